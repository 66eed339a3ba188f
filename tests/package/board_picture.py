# SPDX-License-Identifier: GPL-2.0-or-later
"""A picture of a dashboard: its panels at their places, with what Prometheus answers to their
queries. It shows what is where; how it looks is Grafana's."""
import html
import math
import time

import dashboards

UNIT_X, UNIT_Y, GAP = 44, 22, 4
COLOURS = "#3f6fb0", "#c2632f", "#4c9a57", "#8b5fa8", "#b8902c", "#4aa3a8", "#b04a5a", "#777"
SHOWN = 6  # rows of a legend


def amount(value, unit):
    if unit == "percentunit":
        return f"{100 * value:.3g} %"
    if unit == "s":
        for scale, name in (1, "s"), (1e-3, "ms"), (1e-6, "us"):
            if value >= scale:
                return f"{value / scale:.3g} {name}"
        return f"{value / 1e-9:.3g} ns"
    return f"{value:.4g}"


def legend(target, labels):
    text = target.get("legendFormat") or "{{" + next(iter(labels), "") + "}}"
    for name in labels:
        text = text.replace("{{" + name + "}}", labels[name])
    return " ".join(word for word in text.split() if "{{" not in word) or "edge"


class Picture:
    def __init__(self, board, server, variables, seconds):
        self.board, self.server, self.variables = board, server, variables
        self.end = time.time()
        self.begin = self.end - seconds
        self.out = []

    def text(self, x, y, words, size=11, colour="#333", anchor="start", weight="normal"):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
                        f'text-anchor="{anchor}" font-weight="{weight}">'
                        f"{html.escape(words)}</text>")

    def rect(self, x, y, w, h, colour, opacity=1.0):
        self.out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(w, 0):.1f}" height="{h:.1f}" '
                        f'fill="{colour}" fill-opacity="{opacity:.2f}"/>')

    def filled(self, text):
        for name, value in self.variables.items():
            text = text.replace("$" + name, value)
        return text

    def series(self, panel):
        """(legend, [(second, value)]) of each row, the largest first."""
        target = panel["targets"][0]
        expr = dashboards.filled(target["expr"], self.variables)
        rows = self.server.get("query_range", query=expr, start=self.begin, end=self.end,
                               step=1)["result"]
        found = [(legend(target, row["metric"]), [(t, float(v)) for t, v in row["values"]
                                                  if v not in ("NaN", "+Inf")]) for row in rows]
        return sorted((f for f in found if f[1]), key=lambda f: -f[1][-1][1])

    def bars(self, rows, unit, x, y, w, h):
        rows = rows[:max(1, int(h // 17))]
        most = max(values[-1][1] for _, values in rows) or 1
        for i, (name, values) in enumerate(rows):
            at = y + 17 * i
            self.text(x + 0.46 * w, at + 12, name[-34:], anchor="end")
            self.rect(x + 0.48 * w, at + 2, 0.36 * w * values[-1][1] / most, 12, COLOURS[0], 0.8)
            self.text(x + w, at + 12, amount(values[-1][1], unit), anchor="end")

    def lines(self, rows, unit, x, y, w, h):
        named = min(SHOWN, len(rows), int(h / 2 / 14))
        h -= 14 * named + 4
        most = max((v for _, values in rows for _, v in values), default=0) or 1
        for part in 0, 0.5, 1:
            self.rect(x + 50, y + h * (1 - part), w - 50, 0.5, "#ccc")
            self.text(x + 46, y + h * (1 - part) + 4, amount(most * part, unit), 9, "#777", "end")
        for i, (name, values) in enumerate(rows):
            colour = COLOURS[i % len(COLOURS)]
            second = (w - 50) / (self.end - self.begin)
            points = " ".join(f"{x + 50 + second * (t - self.begin):.1f},"
                              f"{y + h * (1 - v / most):.1f}" for t, v in values)
            self.out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                            'stroke-width="1.5"/>')
            if i < named:
                self.rect(x, y + h + 10 + 14 * i, 10, 3, colour)
                self.text(x + 14, y + h + 15 + 14 * i,
                          f"{name}  {amount(values[-1][1], unit)}"[:int(w / 5.6)], 10)

    def heat(self, rows, unit, x, y, w, h):
        """Buckets count all that are shorter, too."""
        ends = sorted((float(name), dict(values)) for name, values in rows if name != "+Inf")
        cells, before = [], {}
        for end, values in ends:
            cells.append((end, {t: v - before.get(t, 0) for t, v in values.items()}))
            before = values
        used = [i for i, (_, values) in enumerate(cells) if max(values.values(), default=0) > 1e-9]
        cells = cells[used[0]:used[-1] + 1] if used else []
        most = max((v for _, values in cells for v in values.values()), default=1) or 1
        for i, (end, values) in enumerate(cells):
            high = h / len(cells)
            at = y + h - (i + 1) * high
            if i % (len(cells) // 6 + 1) == 0:
                self.text(x + 46, at + high, amount(end, unit), 9, "#777", "end")
            for t, v in values.items():
                wide = (w - 50) / (self.end - self.begin)
                self.rect(x + 50 + wide * (t - self.begin), at, wide, high, "#d9601a",
                          math.sqrt(max(v, 0) / most))

    def panel(self, panel):
        g = panel["gridPos"]
        x, y = UNIT_X * g["x"] + GAP, UNIT_Y * g["y"] + 30 + GAP
        w, h = UNIT_X * g["w"] - 2 * GAP, UNIT_Y * g["h"] - 2 * GAP
        self.rect(x, y, w, h, "#fff")
        self.text(x + 8, y + 16, self.filled(panel["title"]), 12, weight="bold")
        rows, unit = self.series(panel), panel["fieldConfig"]["defaults"].get("unit", "")
        place = x + 8, y + 26, w - 16, h - 34
        if not rows:
            self.text(x + w / 2, y + h / 2, "nothing", anchor="middle")
        elif panel["type"] == "stat":
            self.text(x + w / 2, y + h / 2 + 10, amount(rows[0][1][-1][1], unit), 26,
                      anchor="middle", weight="bold")
        else:
            {"bargauge": self.bars, "heatmap": self.heat}.get(panel["type"], self.lines)(
                rows, unit, *place)

    def svg(self):
        high = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in self.board["panels"])
        width, height = 24 * UNIT_X, UNIT_Y * high + 30
        self.rect(0, 0, width, height, "#eceef1")
        self.text(8, 20, self.board["title"], 14, weight="bold")
        self.text(width - 8, 20, " · ".join(f"{n}: {v}" for n, v in self.variables.items()),
                  12, "#555", "end")
        for panel in self.board["panels"]:
            self.panel(panel)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                'font-family="sans-serif">\n' + "\n".join(self.out) + "\n</svg>\n")
