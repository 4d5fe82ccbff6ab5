# SPDX-License-Identifier: Apache-2.0
"""Hook of mkdocs.yml. The pages are written for the repository: links may leave docs/, and lists
follow GitHub's rules. This makes README.md the first page, adds each file outside of docs/ that a
page links to, and adapts links and lists."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
ITEM = r"([-*]|\d+\.) "


def parts(text):
    """The text in pieces, each with whether it is a block of code."""
    for i, piece in enumerate(re.split(r"(^[ ]*```.*?^[ ]*```$)", text, flags=re.S | re.M)):
        yield i % 2 == 1, piece


def target(path, link):
    """The file of the repository that a link on the page `path` names, and its anchor; or None."""
    if re.match(r"[a-z]+:|#", link):
        return None
    name, _, anchor = link.partition("#")
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    if (ROOT / found).is_dir() and (ROOT / found / "README.md").exists():
        found = posixpath.join(found, "README.md")
    return (found, anchor) if (ROOT / found).exists() else None


def place(path):
    """Where a file of the repository is on the site."""
    if path == "README.md":
        return "index.md"
    return path.removeprefix("docs/")


def origin(place_):
    if place_ == "index.md":
        return "README.md"
    return f"docs/{place_}" if (ROOT / "docs" / place_).exists() else place_


def on_files(files, config):
    shim = (ROOT / "packaging/site/iframe-worker.js").read_bytes()
    files.append(File.generated(config, "iframe-worker.js", content=shim))
    todo = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
    todo += [origin(file.src_uri) for file in files.documentation_pages()]
    done = set()
    while todo:
        path = todo.pop()
        if path in done or not (ROOT / path).is_file():
            continue
        done.add(path)
        if not path.startswith("docs/"):
            content = (ROOT / path).read_bytes()
            files.append(File.generated(config, place(path), content=content))
        if path.endswith(".md"):
            for is_code, piece in parts((ROOT / path).read_text()):
                if not is_code:
                    links = (target(path, link) for _, link in LINK.findall(piece))
                    todo += [found[0] for found in links if found]
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri

    def moved(match):
        found = target(origin(here), match[2])
        if not found:
            return match[0]
        path, anchor = found
        if (ROOT / path).is_dir():
            return match[1][1:-1]  # a folder is not on the site
        link = posixpath.relpath(place(path), posixpath.dirname(here) or ".")
        return f"{match[1]}({link}{'#' + anchor if anchor else ''})"

    def lists(text):
        out = []
        for line in text.split("\n"):
            if re.match(ITEM, line) and out and out[-1].strip() and not re.match(r" *" + ITEM, out[-1]):
                out.append("")  # an item needs an empty line before it
            if line.startswith("|"):
                line = line.replace("\\|", "|")  # in code
            out.append(line)
        return "\n".join(out)

    def indented(text):
        """What belongs to an item of a list is indented by four columns, not by two or three."""
        return re.sub(r"^ {2,3}(?=\S)", "    ", text, flags=re.M)

    def shifted(block):
        columns = len(block) - len(block.lstrip(" "))
        return block if columns == 0 else re.sub("^ {%d}" % columns, "    ", block, flags=re.M)

    return "".join(
        shifted(piece) if is_code else indented(lists(LINK.sub(moved, piece)))
        for is_code, piece in parts(markdown)
    )
