"""Scripts of several files as the one that Streamlit can load: it takes a component's script as a single text."""

import re
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\} from "(\.{1,2}/[\w./-]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def script(main: Path) -> str:
    """An ES module and all that it imports, each once and before who needs it.

    The files share one scope there: no two may declare the same name at their top.
    """
    parts: dict[Path, str] = {}

    def add(path: Path) -> None:
        if path in parts:
            return
        text = path.read_text(encoding="utf-8")
        parts[path] = ""  # a circle of imports ends here
        for name in IMPORT.findall(text):
            add((path.parent / name).resolve())
        del parts[path]
        parts[path] = EXPORT.sub("", IMPORT.sub("", text))

    add(main.resolve())
    return "\n".join(parts.values())
