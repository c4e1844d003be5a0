"""Sections with all that may look poor: long names, markup in texts, empty and wide tables, what is not known."""

from matplotlib.figure import Figure

from chmcnn.experiments.section import Check, Picture, Section, SectionTable

DATASETS = tuple(
    f"{name}_{kind}"
    for kind in ("FUN", "GO")
    for name in (
        "cellcycle",
        "derisi",
        "eisen",
        "expr",
        "gasch1",
        "gasch2",
        "seq",
        "spo",
        "a_name_longer_than_any",
        "x",
    )
)
SYSTEMS = ("C-HMCNN", "HMCN-F", "HMCN-R", "HMC-LMLP", "Clus-HMC", "Clus-Ens", "DHN", "f+", "g+", "h+", "h+MCM")
FACTS = {"chmcnn": "0.1", "torch": "2.7.1+cpu", "processor": "x86_64, 2 threads"}
MISSING = ("table3", "<b>")


def _picture() -> Picture:
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    axis = figure.subplots()
    axis.plot(
        [1, 2, 3, 4, 5, 6, 7, 8, 9], [0.98, 0.98, 0.97, 0.98, 0.99, 0.98, 0.98, 0.99, 0.99], "o-", label="C-HMCNN"
    )
    axis.set(xlabel="step", ylabel="AU(PRC)")
    axis.legend()
    return Picture("figure2", 'Mean accuracy at each of the 9 steps, with "quotes" & <i>markup</i>.', figure)


def sections() -> list[Section]:
    """Make them anew: figures are not to be shared."""
    rows = tuple(
        (name, *(None if (place + at) % 17 == 5 else 0.19 + at / 9 + place / 1000 for at in range(len(SYSTEMS))))
        for place, name in enumerate(DATASETS)
    )
    return [
        Section(
            "table2",
            "Table 2: AU(PRC) of all systems on 20 data sets",
            "Each system is trained with 10 seeds on the rows of the benchmark, with the settings of the paper.\n\n"
            "Results <script>alert('text')</script> are means; [bold]brackets[/bold] and :smile: are kept.",
            "chmcnn reproduce table2 --systems C-HMCNN,HMCN-F,HMCN-R,HMC-LMLP,Clus-HMC,Clus-Ens,DHN,f+,g+ --seeds 10",
            checks=(
                Check("AU(PRC) of C-HMCNN on cellcycle_FUN, within 0.01", "0.255", "0.253", agrees=True),
                Check(
                    "average rank of C-HMCNN among the five systems of the paper, to all digits",
                    "1.25",
                    "1.4",
                    agrees=False,
                    why="HMCN-F was tuned here; the paper took its figures elsewhere <script>alert('why')</script>.",
                ),
                Check(
                    "C-HMCNN is best on how many data sets", "18 of 20", "17 of 20", agrees=True, why="One is a tie."
                ),
            ),
            tables=(
                SectionTable("AU(PRC), means of 10 seeds", ("data set", *SYSTEMS), rows, note="A dash: no result."),
                SectionTable("No result", ("data set", "system", "reason"), ()),
            ),
        ),
        Section(
            "figure2",
            "Figure 2: two rectangles that come nearer",
            "A network of 4 hidden units.",
            "chmcnn reproduce figure2",
            checks=(Check("accuracy at step 9, within two deviations", "0.99 (0.01)", "0.985 (0.008)", agrees=True),),
            tables=(
                SectionTable(
                    "Runs <script>alert('title')</script>",
                    ("step", "epochs", "accuracy", "p", "what was seen"),
                    (
                        (1, 20_000, 0.98125, "4.26e-15", "All of A is delegated, in all of the runs that there were."),
                        (5, 1_234_567, 0.9, "0.04", "<b>Half</b> of it"),
                        (9, None, float("nan"), "-", None),
                        (10, 500, 0.1234, "0.5", "None_of_it_" * 6),
                    ),
                ),
            ),
            pictures=(_picture(),),
        ),
        Section("significance", "Significance", "No checks, no tables.", "chmcnn reproduce significance"),
    ]


def by_name() -> dict[str, Section | None]:
    """Sections by the name of their experiment, and experiments without results."""
    return {section.name: section for section in sections()} | dict.fromkeys(MISSING)
