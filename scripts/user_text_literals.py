"""String literals of Python: their text as users read it, and which of them are text at all."""
# ruff: noqa: RUF001 - users read typographic characters

import ast
import re

from user_text_sentences import MIN_MESSAGE_WORDS, PLACEHOLDER, count_words, placeholder

_NO_TEXT = re.compile(
    r"\(\?|\\[sdwSb]|\[\^|\.\*|\)\?|</?[a-z]+[ >]"  # expressions, markup
    r"|\b(?:json_extract|TEXT|INTEGER|REAL)\b.*(?:NOT NULL|--|')|^\|"  # SQL, heads of tables
    r"|^Level\s+Files |^\] |^No space left on device$|^Recovering from manifest file$"
    r"|^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|WITH|SET|SHOW|GRANT|FLUSH|BEGIN)\b"
)


def is_word(node: ast.expr | None) -> bool:
    """Return whether a node is one string literal."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_string(node: ast.expr) -> bool:
    """Return whether a node is a string: a literal, an f-string, or strings with `+` or `%`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return is_string(node.left) or (isinstance(node.op, ast.Add) and is_string(node.right))
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def template(node: ast.expr, values: list[ast.expr]) -> str:
    """Return the text of a string expression; what is filled in is added to `values`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part, values) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and is_string(node):
        return template(node.left, values) + template(node.right, values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and is_string(node):
        values.append(node.right)
        return re.sub(r"%[-+.\d]*[a-z]", PLACEHOLDER, template(node.left, values))
    value = node.value if isinstance(node, ast.FormattedValue) else node
    values.append(value)
    return placeholder(_value_name(value))


def _value_name(node: ast.expr) -> str:
    """Return what a reader sees instead of a value, e.g. "path"; "" if the source has no name."""
    if isinstance(node, ast.Call):
        method = node.func if isinstance(node.func, ast.Attribute) else None
        if method is not None and method.attr != "join":
            return _value_name(method.value)
        return _value_name(node.args[0] if node.args else node.func)
    if isinstance(node, ast.Subscript):
        return _value_name(node.value).removesuffix("s")
    name = node.id if isinstance(node, ast.Name) else ""
    name = node.attr if isinstance(node, ast.Attribute) else name
    return name.strip("_").replace("_", " ") if len(name) > 1 else ""


def is_text(text: str) -> bool:
    """Return whether a string is words for readers, not code."""
    plain = re.findall(
        rf"(?<![\w{PLACEHOLDER}\ue100-\ue1ff=/-])[\"'(\[]*[A-Za-z][a-z'’-]+(?![\w=/(])", text
    )
    return (
        not _NO_TEXT.search(text)
        and len(plain) >= MIN_MESSAGE_WORDS
        and count_words(text) <= 2 * len(plain)
    )
