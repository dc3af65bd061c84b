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


OURS_ALONE = re.compile(r"set_\w+_request|get_metadata_routing|check_stored|pictures?")
"""Methods that scikit-learn, the storage and notebooks call, and nobody else."""


def skip(app, what, name, obj, skipped, options):
    """Whether a method is left out of the reference."""
    return True if OURS_ALONE.fullmatch(name) else None


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", escape, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
