"""Which template renders the mirror: the user's own, or the shipped one; the repository's only with the user's word.

A template runs in a sandbox, but it decides what every agent reads, so one that comes with a clone must be trusted by
the hash of its bytes (`mirror.trust`), and so must one that a configuration in the clone names.
"""

from __future__ import annotations

import os

from ..memory import config as settings
from ..memory.named import NamedTuple
from ..memory.project import Project, data_home, expand_path, personal
from ..memory.record import printable
from . import files, git
from .env import Env

SHIPPED = "memory.md.j2"


class Template(NamedTuple):
    """A template's text, the name to blame in errors, and a word about one that was passed over ("" mostly)."""

    text: str
    name: str
    warning: str = ""


def choose(project: Project, env: Env, config: settings.Config) -> Template:
    """Return the template to use: `mirror.template`, else the one in MEM_HOME/templates, else the shipped one.

    One that lies in the repository, or that a configuration in the repository names, is used only if `mirror.trust`
    of the user is its sha256.
    """
    from ..templates import source

    named = str(config["mirror.template"])
    own = os.path.join(data_home(env.environ), "templates", SHIPPED)
    warning = ""
    if named:
        path = os.path.join(project.root or project.folder, expand_path(named, env.environ))
        try:
            text = read(path)
            if not _is_foreign(project, env, config, path) or _trusts(project, env, config, text):
                return Template(text, markdown_name(path))
            warning = (
                f"the template {printable(named)} comes with the repository and is not used; if you have read it:"
                f" mem config set mirror.trust {_sha256(text)}"
            )
        except (OSError, ValueError) as error:
            warning = f"the template {printable(named)} can't be read ({error}); the shipped one serves"
    try:
        return Template(read(own), markdown_name(own), warning)
    except (OSError, ValueError):
        return Template(source(SHIPPED), SHIPPED, warning)


def is_tracked(project: Project, env: Env, path: str) -> bool:
    """Return whether git tracks `path`, by the index that the running hook is about to commit. Raises GitFailed."""
    if not project.git_dir or not path:
        return False
    home = project.root if files.inside(project.root, path) else os.path.dirname(project.folder)
    if not files.inside(home, path):
        return False
    return bool(git.tracked(home, env.environ, [os.path.relpath(path, home)], keep_index=home == project.root))


def _is_foreign(project: Project, env: Env, config: settings.Config, path: str) -> bool:
    """Return whether the repository had a hand in the choice of this template."""
    if files.inside(data_home(env.environ), path):
        return False
    if project.root and files.inside(project.root, path):
        return True
    return not _is_users(env, config, "mirror.template") and _is_config_tracked(project, env)


def _trusts(project: Project, env: Env, config: settings.Config, text: str) -> bool:
    known = config["mirror.trust"] == _sha256(text)
    return known and (_is_users(env, config, "mirror.trust") or not _is_config_tracked(project, env))


def _is_users(env: Env, config: settings.Config, name: str) -> bool:
    return bool(settings.load(personal(env.environ), env.environ)[name] == config[name])


def _is_config_tracked(project: Project, env: Env) -> bool:
    """A repository that brings `.mem/config.toml` is not the user who wrote one."""
    return is_tracked(project, env, settings.project_file(project))


def read(path: str) -> str:
    """Return a template's text, line ends as they are: its hash is the file's. Raises OSError and ValueError."""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read(1 << 20)


def _sha256(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def markdown_name(path: str) -> str:
    """Return a name for the template by which its values are escaped as Markdown."""
    name = os.path.basename(path)
    return name if name.endswith(".md.j2") else name + ".md"
