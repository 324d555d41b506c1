"""`mem model status` and `mem model fetch`: larger embedding models, which are only ever opened from the local cache.

This is the one place that fetches a model, and only when a person says so.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import Any

from ..memory import models
from ..memory.embed import SHIPPED, shipped
from ..memory.errors import MemError, Unavailable, UsageError
from .command import answer
from .env import Env

HUB = "https://huggingface.co"
_LIMIT = 4 << 30  # bytes of one file
# A file of the model, and whether it can't do without.
_FILES = {
    "config.json": True,
    "tokenizer.json": True,
    "1_Pooling/config.json": False,
    "sentence_bert_config.json": False,
}

Get = Callable[[str, str], bool]


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("status", "fetch"), nargs="?", default="status")
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="which model to fetch")
    parser.add_argument("--from", dest="folder", default="", metavar="DIR", help="take its files from a folder")


def run(args: Namespace, env: Env) -> int:
    """Show the models that there are, or bring one into the cache."""
    if args.action == "status":
        if args.name:
            raise UsageError("`mem model status` takes no name")
        _status(args, env)
        return 0
    if not args.name:
        raise UsageError(f"which model? There are {', '.join(models.KNOWN)}, and OWNER/NAME of the hub")
    found = fetch(args.name, env, folder=args.folder)
    text = (
        f"fetched {found.name}: {found.dimensions} dimensions, {models.folder(found.name, env.environ)}\n"
        f"next: `mem config set recall.model {found.name}`, then `mem index`"
    )
    answer(env, args, found._asdict(), text)
    return 0


def fetch(name: str, env: Env, *, folder: str = "") -> models.Installed:
    """Bring a model into the cache, from the hub or from a folder, and return what came.

    The hub is HF_ENDPOINT or the public one; HF_HUB_OFFLINE forbids it. The model's folder appears whole or not at
    all. Raises Unavailable, UsageError, MemError (`fetch_failed`).
    """
    place, source = models.folder(name, env.environ), models.known(name).source
    if not folder and name in (SHIPPED, ""):
        raise UsageError(f"{SHIPPED} comes with the program")
    if not folder and env.environ.get("HF_HUB_OFFLINE", "") not in ("", "0"):
        raise Unavailable(f"HF_HUB_OFFLINE is set, so {name} can't be fetched; --from takes it from a folder")
    import shutil
    import tempfile

    os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
    half = tempfile.mkdtemp(prefix=".fetch-", dir=os.path.dirname(place))
    try:
        _collect(half, _from_folder(folder) if folder else _from_hub(source, env))
        found = models.install(name, half)
        shutil.rmtree(place, ignore_errors=True)
        os.replace(half, place)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return found


def _collect(half: str, get: Get) -> None:
    for name, needed in _FILES.items():
        if not get(name, os.path.join(half, name)) and needed:
            raise MemError(f"the model has no {name}, which this program needs", reason="fetch_failed")
    if not get("model.safetensors", os.path.join(half, "model.safetensors")) or not _is_run_by_us(half):
        for name in ("onnx/model.onnx", "model.onnx"):
            if get(name, os.path.join(half, "model.onnx")):
                break


def _is_run_by_us(half: str) -> bool:
    try:
        models.kind_of(half)
    except Unavailable:
        os.unlink(os.path.join(half, "model.safetensors"))
        return False
    return True


def _from_folder(folder: str) -> Get:
    def get(name: str, target: str) -> bool:
        import shutil

        origin = os.path.join(folder, name)
        if not os.path.isfile(origin):
            return False
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(origin, target)
        return True

    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder}")
    return get


def _from_hub(source: str, env: Env) -> Get:
    hub = _hub(env.environ)

    def get(name: str, target: str) -> bool:
        import urllib.error
        import urllib.request

        address = f"{hub}/{source}/resolve/main/{name}"
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - http and https only, see _hub
                os.makedirs(os.path.dirname(target), exist_ok=True)
                _save(answer, target, _progress(env, name, int(answer.headers.get("Content-Length") or 0)))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return False
            raise MemError(f"{address} answered {error.code} {error.reason}", reason="fetch_failed") from error
        except OSError as error:
            raise MemError(f"{address} can't be reached: {error}", reason="fetch_failed") from error
        return True

    return get


def _hub(environ: Mapping[str, str]) -> str:
    hub = environ.get("HF_ENDPOINT") or HUB
    if not hub.startswith(("https://", "http://")):
        raise UsageError(f"HF_ENDPOINT is {hub!r}, which is no web address")
    return hub.rstrip("/")


def _save(answer: Any, target: str, progress: Callable[[int], None]) -> None:
    done = 0
    with open(target, "wb") as file:
        while block := answer.read(1 << 20):
            done += len(block)
            if done > _LIMIT:
                raise MemError(f"{os.path.basename(target)} is larger than 4 GB", reason="fetch_failed")
            file.write(block)
            progress(done)


def _progress(env: Env, name: str, total: int) -> Callable[[int], None]:
    def show(done: int) -> None:
        if env.stderr.isatty() and total > 1 << 20:
            env.stderr.write(f"\r{name}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB" + "\n" * (done >= total))
            env.stderr.flush()

    return show


def _status(args: Namespace, env: Env) -> None:
    model = shipped()
    rows: list[dict[str, Any]] = [
        {"name": model.name, "state": "shipped", "hash": model.hash, "dimensions": model.dimensions,
         "about": "English, static, 5 MB, Apache-2.0"}
    ]  # fmt: skip
    here = {found.name: found for found in models.installed(env.environ)}
    for name, found in here.items():
        about = models.known(name).about
        rows.append({"name": name, "state": "cached", "hash": found.hash, "dimensions": found.dimensions,
                     "about": about})  # fmt: skip
    for name, one in models.KNOWN.items():
        if name not in here:
            rows.append({"name": name, "state": "not fetched", "about": one.about})
    lines = [f"{row['name']:24} {row['state']:12} {row['about']}".rstrip() for row in rows]
    answer(env, args, {"models": rows}, "\n".join(lines))
