"""One HTTP request in a few lines: programs that stand in for others must start quickly."""

import socket


def ask(address: str, path: str, body: str) -> tuple[int, str]:
    """Post the body; status and text of the answer. OSError where there is none."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = f"POST {path} HTTP/1.0\r\nContent-Length: {len(body.encode())}\r\n\r\n"
        connection.sendall((head + body).encode())
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()
    if not answer:
        raise ConnectionResetError("the server closed the connection without an answer")
    top, _, text = answer.partition("\r\n\r\n")
    return int(top.split()[1]), text
