"""Everything that memhooks renders: Jinja templates in a sandbox, their values escaped for what they stand in.

`NAME.md.j2` is Markdown, `NAME.html.j2` and `NAME.plist.j2` are HTML and XML, anything else is plain text. A template
is given values and nothing else: no loader, so it includes no file; no clock; no environment. An unknown name in it is
an error and not an empty string. Jinja is imported inside, since it costs more than a hook may.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..memory.errors import MemError
from . import markdown

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

FOLDER = os.path.dirname(os.path.abspath(__file__))


class TemplateFailed(MemError):
    """A template is wrong, or asks for what the sandbox does not give."""

    reason = "template"


def render(name: str, /, **values: object) -> str:
    """Return the shipped template `name` (a path below this folder) filled with `values`. Raises TemplateFailed."""
    return render_source(source(name), name, **values)


def source(name: str) -> str:
    """Return a shipped template's text."""
    with open(os.path.join(FOLDER, *name.split("/")), encoding="utf-8") as file:
        return file.read()


def render_source(text: str, name: str, /, **values: object) -> str:
    """Return the template `text` filled with `values`; `name` tells how to escape. Raises TemplateFailed."""
    from jinja2 import TemplateError, TemplateSyntaxError

    try:
        return _environment(name).from_string(text).render(**values)
    except TemplateSyntaxError as error:
        raise TemplateFailed(f"the template {name}, line {error.lineno}: {error.message}") from error
    except TemplateError as error:
        raise TemplateFailed(f"the template {name}: {error.message}") from error
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        # What an expression in a template raises is the template's fault too.
        raise TemplateFailed(f"the template {name}: {error}") from error


def _environment(name: str) -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    is_markdown = name.endswith((".md.j2", ".md"))
    is_markup = name.endswith((".html.j2", ".plist.j2"))
    environment = ImmutableSandboxedEnvironment(
        autoescape=is_markdown or is_markup,
        finalize=_markdown if is_markdown else _printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["short"] = _short
    if is_markdown:
        environment.filters.update(item=_item, one_line=_one_line)
    return environment


def _markdown(value: Any) -> Any:
    # Markup is what a macro, a block or a filter of ours has escaped already; Jinja leaves it alone as well.
    from markupsafe import Markup

    return value if isinstance(value, Markup) else Markup(markdown.escape(_text(value)))  # noqa: S704 - it is escaped


def _item(value: Any) -> Any:
    from markupsafe import Markup

    return Markup(markdown.item(_text(value)))  # noqa: S704


def _one_line(value: Any) -> Any:
    from markupsafe import Markup

    return Markup(markdown.one_line(_text(value)))  # noqa: S704


def _printable(value: Any) -> Any:
    from ..memory.record import printable

    return printable(value) if type(value) is str else "" if value is None else value


def _short(value: Any) -> str:
    from ..memory.record import short

    return short(_text(value))


def _text(value: Any) -> str:
    from jinja2 import Undefined

    return "" if value is None else value.__str__() if isinstance(value, Undefined) else str(value)
