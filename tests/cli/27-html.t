#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: an XML parser reads it, hostile names come back from it as text, and a recording
gives the very file that its run gave."""
import html.parser
import os
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET

import lib
from lib import culprit, done, is_, ok

where = tempfile.mkdtemp(prefix="culprit-test-")
subprocess.run([os.path.join(lib.BUILD, "tests", "unit", "report_files"), where], check=True)


def read(name):
    with open(os.path.join(where, name), "rb") as f:
        return f.read().decode()


class Reader(html.parser.HTMLParser):
    """As a browser takes it apart: all text, all attributes, all elements."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.words, self.style = {}, [], [], False
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes += attrs
        self.style = tag == "style"

    def handle_endtag(self, tag):
        self.style = False

    def handle_data(self, data):
        if not self.style:
            self.words.append(data)


ELEMENTS = set("html head meta link title style body main section h1 h2 h3 p b i em small ul ol "
               "li dl dt dd div span svg path rect figure "
               "figcaption table caption thead tbody tr th td code a footer details "
               "summary".split())
for name in ("one.html", "two.html", "hostile.html"):
    source = read(name)
    root = ET.fromstring(source)
    r = Reader(source)
    is_("".join(root.find("body").itertext()).split(),
        "".join(r.words).split()[-len("".join(root.find("body").itertext()).split()):],
        f"{name}: XML and HTML readers see the same text")
    is_(sorted(set(r.tags) - ELEMENTS), [], f"{name}: no element but its own")
    links = [v for k, v in r.attributes if k in ("src", "href", "action", "data", "srcset")]
    ok(all(v == "data:," or v.startswith("#r") for v in links) and not any(k.startswith("on") for k,
                                                                           _ in r.attributes)
       and "url(" not in source and "@import" not in source,
       f"{name}: refers to nothing outside itself", links)
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    ok(len(ids) == len(set(ids)) and {v[1:] for v in links if v.startswith("#")} <= set(ids),
       f"{name}: its links lead somewhere", ids)

body = ET.fromstring(read("hostile.html")).find("body")
text = "".join(body.itertext())
titles = [e.get("title") or "" for e in body.iter()] + [e.text or "" for e in body.iter()
                                                        if e.tag == "title"]
for name in ("<script>", "a|b", "new\\x0aline", "\\x1b[31mred", "quo\"te,comma",
             "bad\\xff\\xfeutf8", "back\\\\slash", "&lt;b&amp;",
             "\\xe2\\x80\\xaeidib", "\u00e9t\u00e9"):
    ok(name in text, f"{name} is text in it")
for name in ("# head", "\\xc2\\x9b31m", "\\xe2\\x80\\xaeidib", "semi;colon"):
    ok(any(name in t for t in titles), f"{name} is text in an attribute")
worst = body.find(".//ol[@class='worst']")
ok(all(0 <= float(part.split(":")[1].rstrip("%")) <= 100.2 for i in worst.iter("i")
       for part in (i.get("style") or "left:0%").split(";")),
   "the strips' spans lie in them")

shutil.rmtree(where)
done()
