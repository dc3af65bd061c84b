"""Docstrings are written for people who read the source: bars and stars in them are mathematics."""

import re

CODE = re.compile(r"(``.*?``|:\w+:`[^`]*`|`[^`]*`)")
MARKUP = re.compile(r"(?<!\\)([|*])")
UNDERSCORE = re.compile(r"(?<=\w)_(?=[\s,.;:)\]]|$)")


def escaped(line):
    """The line with its bars, stars and trailing underscores as they are, except in code."""
    if line.lstrip().startswith((">>>", "...", "|", "+-")):
        return line
    parts = CODE.split(line)
    for k in range(0, len(parts), 2):
        parts[k] = UNDERSCORE.sub(r"\\_", MARKUP.sub(r"\\\1", parts[k]))
    return "".join(parts)


def escape(app, what, name, obj, options, lines):
    lines[:] = [escaped(line) for line in lines]


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", escape, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
