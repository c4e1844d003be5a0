"""Tables and pictures of the results, written into the documents that quote them.

python -m benchmarks.report
"""

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import (
    altered,
    before,
    cluster,
    cost_report,
    crash_points,
    encoders,
    ensembles,
    estimate,
    explorer,
    faults_report,
    headline,
    layers,
    missing,
    more,
    presets_report,
    processes,
    published_report,
    reading,
    refits,
    scale_memory,
    scale_report,
    serving,
    serving_schema,
    soak,
    starts,
    stopping,
    stream_memory,
    text_report,
    trust_report,
    waiting,
    word_parts,
)
from benchmarks.presets import LONG, WIDE
from benchmarks.published_report import RUNS
from chmcnn.experiments import registry

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
DOCUMENTS = (
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    ROOT / "docs" / "benchmarks.md",
    ROOT / "docs" / "systems.md",
    ROOT / "docs" / "reproduction.md",
    ROOT / "docs" / "settings.md",
    ROOT / "docs" / "findings.md",
    ROOT / "docs" / "scaling.md",
    ROOT / "docs" / "guides" / "many_machines.md",
    ROOT / "docs" / "guides" / "explorer.md",
)


def main() -> None:
    """Fill in the tables between their marks, and draw the pictures."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        document.write_text(filled_in(text), encoding="utf-8")
        print(document.relative_to(ROOT))
    cost_report.draw_cost().savefig(IMAGES / "cost.png", dpi=150)
    cost_report.draw_growth().savefig(IMAGES / "growth.png", dpi=150)
    scale_report.draw_scale().savefig(IMAGES / "scale.png", dpi=150)
    layers.draw().savefig(IMAGES / "layers.png", dpi=110)
    for experiment in ("figure2", "table2"):
        section = registry.read_section(experiment, RUNS)
        if section:
            section.pictures[0].figure.savefig(IMAGES / f"{experiment}.png", dpi=110)


def filled_in(text: str) -> str:
    """Return a document with each table between ``<!-- table: NAME -->`` and ``<!-- end -->`` replaced."""
    makers: dict[str, Callable[[], str]] = {
        "headline": partial(headline.report, RUNS),
        "steps": cost_report.steps,
        "layer": cost_report.layer,
        "losses": cost_report.losses,
        "growth": cost_report.growth,
        "ways": cost_report.ways,
        "loss_ways": cost_report.loss_ways,
        "presets": presets_report.presets,
        "starts": starts.report,
        "before": before.report,
        "refits": refits.report,
        "stopping": stopping.report,
        "missing": missing.report,
        "ensembles": ensembles.report,
        "more": more.report,
        "encoders": encoders.report,
        "layers": partial(presets_report.validated, "layers", "columns", WIDE),
        "dropout": partial(presets_report.validated, "dropout", "rows", LONG),
        "systems": published_report.systems,
        "ablation": published_report.ablation,
        "checks": published_report.checks,
        "settings": presets_report.settings,
        "ratios": cost_report.ratios,
        "texts": text_report.compared,
        "choices": text_report.choices,
        "text_losses": text_report.losses,
        "text_settings": text_report.settings,
        "text_lengths": text_report.lengths,
        "word_parts": word_parts.report,
        "reading": reading.report,
        "waiting": waiting.report,
        "fuzz": faults_report.fuzz,
        "altered": altered.report,
        "crash_points": crash_points.report,
        "soak": soak.report,
        "faults": faults_report.summary,
        "table2": published_report.table2,
        "scale": scale_report.scale,
        "scale_memory": scale_memory.report,
        "stream_memory": stream_memory.report,
        "estimate": estimate.report,
        "serving": serving.report,
        "serving_memory": serving.report_memory,
        "serving_schema": serving_schema.report,
        "explorer": explorer.report,
        "large": scale_report.large,
        "outputs": scale_report.outputs,
        "ranks": scale_report.ranks,
        "calibration": trust_report.calibration,
        "risks": trust_report.risks,
        "agreement": trust_report.agreement,
        "process_steps": processes.steps,
        "process_trainings": processes.trainings,
        "process_memory": processes.memory,
        "cluster": cluster.report_time,
        "cluster_kills": cluster.report_losses,
    }
    return re.sub(
        r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{makers[found[2]]()}{found[3]}",
        text,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    main()
