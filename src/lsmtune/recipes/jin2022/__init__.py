"""The parameter study of Jin, Choi, Choi, Sung and Park (2022)."""
