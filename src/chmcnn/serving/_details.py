"""All that is known about one class, for a page that walks through the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from chmcnn.serving._classes import ClassFacts
from chmcnn.serving._description import list_problems

if TYPE_CHECKING:
    from fastapi import FastAPI

    from chmcnn.report import explorer
    from chmcnn.serving._service import Service


class ClassMeasures(BaseModel):
    """How well a class is predicted, on the test rows of the training."""

    auprc: float | None = None
    precision: float | None = None
    recall: float | None = None
    f: float | None = None


class Partner(BaseModel):
    """A class that has to do with another one, and in how many test rows."""

    name: str
    title: str | None = None
    rows: int


class Tested(BaseModel):
    """The test rows that have a class."""

    title: str = Field(examples=["test part of digits"])
    rows: int


class ClassDetails(ClassFacts):
    """A class with its parents, its threshold, and how it was predicted on test rows, if there were any."""

    above: list[ClassFacts] = Field(description="Its parents.")
    threshold: float = Field(description="Lowest score at which the model predicts it.")
    counted: str | None = Field(None, description="Which rows are counted.", examples=["training rows"])
    tested: Tested | None = None
    measures: ClassMeasures | None = None
    curve: list[int] | None = Field(None, description="Precision in percent at equal steps of recall, from 0 to 1.")
    delegates: list[Partner] = Field([], description="Who decides its score where it is predicted; it may be itself.")
    replaced_by: list[Partner] = Field([], description="Wrong classes of rows where it is missed.")
    replaces: list[Partner] = Field([], description="Missed classes of rows where it is wrongly predicted.")


def add_details(app: FastAPI, service: Service) -> None:
    """Add the request for all that is known about a class."""

    @app.get("/hierarchy/class", responses=list_problems(404, 422), summary="All that is known about a class")
    async def describe(name: Annotated[str, Query(alias="class", description="Name of the class.")]) -> ClassDetails:
        return describe_class(service, name)


def describe_class(service: Service, name: str) -> ClassDetails:
    """Return what is known about a class; some of it only with the facts of a model folder."""
    hierarchy = service.model.hierarchy_
    at = hierarchy.index(name)
    known: dict[str, object] = {
        **service.classes.describe([name])[0].model_dump(),
        "above": service.classes.describe(hierarchy.parents(name)),
        "threshold": float(service.model.thresholds_[at]),
    }
    if service.facts is not None:
        known |= _describe_rows(service.facts, at)
        partners = {kind: service.facts.partners(kind, at) for kind in ("delegates", "replaced_by", "replaces")}
        known |= {kind: [_name(service, each) for each in found] for kind, found in partners.items()}
    return ClassDetails.model_validate(known)


def _describe_rows(facts: explorer.ClassFacts, at: int) -> dict[str, object]:
    if facts.evaluation is None:
        return {"counted": facts.counted}
    tested = {"title": facts.evaluation["title"], "rows": facts.test_rows[at]}
    return {"counted": facts.counted, "tested": tested, "measures": facts.measures(at), "curve": facts.curves[at]}


def _name(service: Service, each: explorer.Confusion) -> Partner:
    name = service.model.hierarchy_.classes[each.at]
    return Partner(name=name, title=service.model.hierarchy_.titles.get(name), rows=each.rows)
