"""What all pages share: one file each, no script, nothing from elsewhere, light or dark as the reader likes."""

from __future__ import annotations

from html import escape

from convlab.grader.text import plain

__all__ = ["WORDS", "counted", "number", "page", "safe", "status"]

# Of each status: the words, and which of the colours of the style sheet.
WORDS = {
    "ok": ("right", "good"),
    "wrong": ("not right", "bad"),
    "error": ("stopped by an error", "bad"),
    "timeout": ("took too long", "bad"),
    "out_of_memory": ("took too much memory", "bad"),
    "crashed": ("crashed", "bad"),
    "not_attempted": ("not attempted", "none"),
    "malformed": ("could not be read", "ask"),
    "forbidden": ("used what is not allowed", "bad"),
    "grader_error": ("not graded yet: somebody will look at it", "ask"),
}

_STYLE = """
:root {
  color-scheme: light dark; --ink: #1d2733; --soft: #5b6875; --paper: #fff; --line: #dde3e9;
  --good: #00795a; --bad: #b34700; --ask: #0067a3; --none: #697683;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e3e8ed; --soft: #9aa7b4; --paper: #14191f; --line: #2f3943;
    --good: #35c99b; --bad: #ff9d5c; --ask: #5db8f5; --none: #94a1ae;
  }
}
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 52rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; margin: 0 }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem }
h3 { font-size: 1rem; margin: 0 }
p { margin: .4rem 0 }
a { color: var(--ask) }
.soft, footer { color: var(--soft) }
footer { font-size: .85rem; border-top: 1px solid var(--line); margin-top: 3rem; padding-top: .6rem }
section { border-left: 5px solid var(--none); padding: .1rem 0 .1rem .9rem; margin: 1.1rem 0 }
section.good { border-color: var(--good) }
section.bad { border-color: var(--bad) }
section.ask { border-color: var(--ask) }
.tag { font-weight: 600; color: var(--none) }
.tag.good { color: var(--good) }
.tag.bad { color: var(--bad) }
.tag.ask { color: var(--ask) }
table { border-collapse: collapse; width: 100%; font-size: .93rem }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
td:first-child { min-width: 8rem }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
svg text { fill: var(--soft); font-size: 11px }
svg rect { fill: var(--ask) }
@media print { body { max-width: none; margin: 0 } }
""".strip()


def safe(text: object) -> str:
    """A text as it may stand in a page: nothing in it is taken for markup, or for anything but letters."""
    return escape(plain(str(text)))


def number(value: float) -> str:
    """Points as people write them.

    >>> number(6.0), number(2.5)
    ('6', '2.5')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "day"), counted(2, "day")
    ('1 day', '2 days')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def status(name: str) -> str:
    """A status in words, coloured."""
    words, colour = WORDS[name]
    return f'<span class="tag {colour}">{words}</span>'


def page(title: str, body: str, foot: str) -> str:
    """A whole page; ``body`` and ``foot`` are markup. Its policy lets nothing in from outside, and no script run."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{body}\n<footer>{foot}</footer>\n</body>\n</html>\n"
    )
