"""The plots of docs/performance.md, as PNG and SVG; on white ground, so that they can be read on dark pages too."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.overhead.measure import BARE, KEYED, NEW, OLD, SIDES

# Colours that people who confuse red and green can tell apart.
SIDE_COLOURS = {BARE: "#56606b", OLD: "#e69f00", NEW: "#0072b2"}
SIDE_NAMES = {BARE: "bare OpenSearch", OLD: "old service", NEW: "new service"}
PROCESS_COLOURS = {
    "opensearch": ("OpenSearch", "#9aa3ad"),
    "service": ("Python (service)", "#0072b2"),
    "postgres": ("PostgreSQL", "#e69f00"),
    "redis": ("Redis", "#d55e00"),
}
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e6e8",
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "siteglass",  # the same figures give the same file
}


def draw(cells: list[dict[str, Any]], folder: Path) -> None:
    """All plots into a folder, of requests without an Idempotency-Key; the tables have the others too."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [kind for kind in dict.fromkeys(cell["kind"] for cell in cells) if not kind.endswith(KEYED)]
    by_kind = {kind: [cell for cell in cells if cell["kind"] == kind] for kind in kinds}
    with plt.rc_context(STYLE):
        _save(_throughput(by_kind), folder / "overhead-throughput")
        _save(_latency(by_kind), folder / "overhead-latency")
        _save(_cpu(by_kind), folder / "overhead-cpu")


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path.with_suffix(".png"), dpi=150, bbox_inches="tight", pad_inches=0.15)
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", bbox_inches="tight", pad_inches=0.15)
    plt.close(figure)
    # Nothing but the drawing: no document type, which has an address, nothing about the program that drew it.
    bare = re.sub(r"<!DOCTYPE.*?>|<metadata>.*?</metadata>", "", drawn.getvalue(), flags=re.DOTALL)
    title = f"<title>{path.stem.replace('-', ': ')}</title>"
    path.with_suffix(".svg").write_text(re.sub(r"(<svg[^>]*>)", rf"\1{title}", bare, count=1))


def _panels(by_kind: dict[str, list[dict[str, Any]]]) -> tuple[Figure, list[Axes]]:
    figure, axes = plt.subplots(1, len(by_kind), figsize=(3.1 * len(by_kind), 3.6), squeeze=False, layout="constrained")
    panels = list(axes[0])
    for panel, kind in zip(panels, by_kind, strict=True):
        panel.set_title(_titled(kind))
        panel.set_xlabel("connections")
    return figure, panels


def _titled(kind: str) -> str:
    name, _, domains = kind.partition(" ")
    return f"enrichment of {domains}" if name == "enrich" else kind


def _errors(spreads: list[dict[str, float]]) -> list[list[float]]:
    """From the median down to the least and up to the most."""
    return [[s["median"] - s["min"] for s in spreads], [s["max"] - s["median"] for s in spreads]]


def _throughput(by_kind: dict[str, list[dict[str, Any]]]) -> Figure:
    figure, panels = _panels(by_kind)
    for panel, cells in zip(panels, by_kind.values(), strict=True):
        for side, shift in ((OLD, -0.2), (NEW, 0.2)):
            spreads = [cell[side]["times_bare_per_second"] for cell in cells]
            places = [number + shift for number in range(len(cells))]
            medians = [s["median"] for s in spreads]
            colour, label = SIDE_COLOURS[side], SIDE_NAMES[side]
            panel.bar(places, medians, 0.36, yerr=_errors(spreads), capsize=4, color=colour, label=label)
            for place, spread in zip(places, spreads, strict=True):
                text = f"{spread['median']:.2f}"
                panel.annotate(text, (place, spread["max"]), (0, 4), textcoords="offset points", ha="center")
        panel.set_xticks(range(len(cells)), [str(cell["connections"]) for cell in cells])
        panel.set_ylim(bottom=0)
        panel.axhline(1, color=SIDE_COLOURS[BARE], linewidth=1, linestyle="--")
        panel.grid(axis="x", visible=False)
    panels[0].set_ylabel("requests/s ÷ bare OpenSearch")
    _legend(figure, panels[0])
    return figure


def _latency(by_kind: dict[str, list[dict[str, Any]]]) -> Figure:
    figure, panels = _panels(by_kind)
    for panel, cells in zip(panels, by_kind.values(), strict=True):
        connections = [cell["connections"] for cell in cells]
        for side in SIDES:
            for name, line in (("p50_ms", "-"), ("p99_ms", ":")):
                spreads = [cell[side][name] for cell in cells]
                panel.errorbar(
                    connections,
                    [s["median"] for s in spreads],
                    yerr=_errors(spreads),
                    capsize=3,
                    marker="o",
                    linestyle=line,
                    color=SIDE_COLOURS[side],
                    label=f"{SIDE_NAMES[side]}, {name[:3]}",
                )
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_xticks(connections, [str(number) for number in connections])
        panel.minorticks_off()
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panels[0].set_ylabel("time of a request, ms (log)")
    _legend(figure, panels[0])
    return figure


def _cpu(by_kind: dict[str, list[dict[str, Any]]]) -> Figure:
    figure, panels = _panels(by_kind)
    for panel, cells in zip(panels, by_kind.values(), strict=True):
        places = [place for number in range(len(cells)) for place in (number - 0.28, number, number + 0.28)]
        bottoms = [0.0] * len(places)
        for name, (label, colour) in PROCESS_COLOURS.items():
            heights = [cell[side]["cpu_ms"][name]["median"] for cell in cells for side in SIDES]
            panel.bar(places, heights, 0.25, bottom=bottoms, color=colour, label=label)
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
        panel.set_xticks(range(len(cells)), [str(cell["connections"]) for cell in cells])
        panel.grid(axis="x", visible=False)
        panel.set_xlabel("connections (bare, old, new)")
    panels[0].set_ylabel("CPU per request, ms")
    _legend(figure, panels[0])
    return figure


def _legend(figure: Figure, panel: Axes) -> None:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
