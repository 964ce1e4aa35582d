"""A page of HTML that needs nothing else: no network, no fonts; for screen and print.

Its colours have a contrast of at least 4.5 on both backgrounds, and change with the reader's
choice of light or dark. Parts of the body are HTML already: what comes from elsewhere is escaped by
whoever writes it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from string import Template

from modicum.releases.publishing.html import escaped
from modicum.version import VERSION

_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--paper:#fff;
--tint:#eef4fb;--main:#0b5cad;--pale:#9cc3ea;--warn:#8a3b00;--warned:#fff4e5}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#a4adb8;--line:#3a424c;
--paper:#14171b;--tint:#1b2530;--main:#7cb8f5;--pale:#2f5f8f;--warn:#ffb77a;--warned:#2e2216}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:46rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.75rem;line-height:1.25;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.25rem 0 .5rem}
p,ul{margin:.5rem 0}
ul{padding-left:1.4rem}
li{margin:.25rem 0}
p,li{overflow-wrap:anywhere}
.sub,figcaption,footer{color:var(--soft);font-size:.9rem}
.lead{font-size:1.15rem}
.big{font-size:2.4rem;font-weight:650;line-height:1.2;margin:1.25rem 0 0;
font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.warn{border-left:4px solid var(--warn);background:var(--warned);padding:.75rem 1rem;
margin:1.25rem 0}
figure{margin:1.5rem 0}
figcaption{margin-top:.5rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.95rem}
th,td{text-align:left;padding:.35rem 1rem .35rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
th{font-weight:600}
tbody th,td{font-weight:400;overflow-wrap:break-word;max-width:20rem}
.scroll+.scroll{margin-top:1.25rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.25rem;margin:.5rem 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.num{text-align:right;white-space:nowrap}
blockquote{margin:.5rem 0;padding:.6rem 1rem;background:var(--tint);overflow-wrap:anywhere}
details{margin:.75rem 0}
summary{cursor:pointer;color:var(--main)}
a{color:var(--main)}
:focus-visible{outline:3px solid var(--main);outline-offset:2px}
pre{overflow:auto;max-height:24rem;background:var(--tint);padding:.75rem;font-size:.8rem;
line-height:1.4}
.sign{display:grid;grid-template-columns:1fr 1fr 2fr;gap:2.75rem 1.5rem;margin:3rem 0 0}
.sign span{border-top:1px solid var(--ink);padding-top:.25rem;font-size:.9rem;color:var(--soft)}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.75rem}
@media (max-width:30rem){main{padding:1.5rem 1rem 3rem}dl{grid-template-columns:1fr;gap:0}
dd{margin-bottom:.5rem}.big{font-size:1.9rem}.sign{grid-template-columns:1fr}
th,td{padding-right:.75rem}}
@media print{:root{--ink:#000;--soft:#333;--line:#999;--paper:#fff;--tint:#f4f4f4;--main:#0b5cad;
--pale:#9cc3ea;--warn:#000;--warned:#fff}body{font-size:11pt;print-color-adjust:exact;
-webkit-print-color-adjust:exact}main{max-width:none;padding:0}h2{break-after:avoid}
figure,tr,dl,.warn,.sign{break-inside:avoid}.scroll{overflow:visible}details{display:none}}
"""

SIGNED = ("date", "name", "signature")
"""What belongs on the lines at the end of a page."""

_PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="modicum $version">
<link rel="icon" href="data:,">
<title>$title</title>
<style>$style</style>
</head>
<body>
<main>
$body
</main>
<script type="application/json" id="record">$record</script>
$script</body>
</html>
""")


def page(
    title: str,
    body: Iterable[str],
    *,
    record: Mapping[str, object],
    style: str = "",
    script: str = "",
) -> str:
    """Write a whole page; ``record`` is in it as data, for programs, and ``style`` more rules.

    Browsers run no block of that type, and no text ends it early: no < is written in it. The page's
    policy lets a browser run this ``script`` and no other, and load nothing at all.
    """
    text = json.dumps(record, ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
    return _PAGE.substitute(
        title=escaped(title),
        version=escaped(VERSION),
        style=(_STYLE + style).strip(),
        body="\n".join(body),
        record=text,
        policy=policy,
        script=f"<script>{script}</script>\n" if script else "",
    )


def header(title: str, *lines: str) -> str:
    """Write the head of a page: its title, and lines below it."""
    below = "".join(paragraph(line, "sub") for line in lines)
    return f"<header><h1>{escaped(title)}</h1>{below}</header>"


def footer(text: str) -> str:
    """Write the last line of a page."""
    return f"<footer>{escaped(text)}</footer>"


def section(title: str, *parts: str) -> str:
    """Put parts under a heading."""
    return f"<section><h2>{escaped(title)}</h2>\n{chr(10).join(parts)}\n</section>"


def paragraph(text: str, kind: str = "") -> str:
    """Write a paragraph of text."""
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{escaped(text)}</p>"


def bullets(texts: Iterable[str]) -> str:
    """Write a list of texts."""
    return f"<ul>{''.join(f'<li>{escaped(text)}</li>' for text in texts)}</ul>"


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Write names and what is said of them."""
    said = (f"<dt>{escaped(name)}</dt><dd>{escaped(words)}</dd>" for name, words in pairs)
    return f"<dl>{''.join(said)}</dl>"


def warning(texts: Sequence[str]) -> str:
    """Write texts that nobody should miss; nothing if there are none."""
    if not texts:
        return ""
    return f'<div class="warn" role="note">{"".join(map(paragraph, texts))}</div>'


def numbers(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int, name: str, texts: int = 0
) -> str:
    """Write a table that scrolls by itself where it is wider than the page.

    The first columns are ``labels`` of the rows, then come ``texts``, and the others are numbers.
    """

    def line(cells: Sequence[str], tag: str) -> str:
        found = []
        for place, cell in enumerate(cells):
            kind = ' class="num"' if place >= labels + texts else ""
            label = tag == "td" and place < labels
            scope = ' scope="col"' if tag == "th" else ' scope="row"' * label
            each = "th" if label else tag
            found.append(f"<{each}{scope}{kind}>{escaped(cell)}</{each}>")
        return f"<tr>{''.join(found)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escaped(name)}">'
        f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table></div>"
    )


def figure(picture: str, caption: str) -> str:
    """Put a caption below a picture."""
    return f"<figure>{picture}<figcaption>{escaped(caption)}</figcaption></figure>"


def quotation(text: str) -> str:
    """Write a text that is to be copied."""
    return f"<blockquote>{escaped(text)}</blockquote>"


def folded(title: str, text: str) -> str:
    """Write a long text that is shown when its title is pressed, and not printed."""
    return (
        f"<details><summary>{escaped(title)}</summary>"
        f'<pre tabindex="0">{escaped(text)}</pre></details>'
    )


def signature(*names: str) -> str:
    """Write lines to sign on, with what belongs there."""
    lines = "".join(f"<span>{escaped(name)}</span>" for name in names)
    return f'<div class="sign">{lines}</div>'
