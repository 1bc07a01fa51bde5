"""Alert rules and dashboard: each metric that they name exists, with the labels that they use."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.test import Client

from league import durations, heartbeats
from tests.docs.documents import ROOT
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)
DIRECTORY = ROOT / "docker" / "prometheus"
RULES = [
    rule
    for group in yaml.safe_load((DIRECTORY / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((DIRECTORY / "dashboard.json").read_text())


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    yield from (target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"])


@pytest.fixture
def names(client: Client) -> set[str]:
    """The names of all metrics of a league in which something happens."""
    for name, histogram in durations.HISTOGRAMS.items():
        durations.note(name, 0.1, *("x" for _ in histogram.labels))
    durations.send()
    heartbeats.note_worker(["play"])
    small.ladder()
    small.bots(1)
    lines = client.get("/metrics").content.decode().splitlines()
    families = {line.split()[2] for line in lines if line.startswith("# TYPE ")}
    return families | {re.split(r"[{ ]", line)[0] for line in lines if not line.startswith("#")}


def test_each_metric_of_a_rule_or_panel_exists(names: set[str]) -> None:
    used = {name for each in expressions() for name in re.findall(r"league_\w+", each)}
    assert len(used) > 10
    assert used <= names


def test_rules_have_what_prometheus_needs_and_say_what_to_do() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert set(rule["annotations"]) == {"summary", "remedy"}
        assert re.fullmatch(r"\d+[sm]", rule["for"])


def test_promtool_accepts_the_rules_and_the_configuration(tmp_path: Path) -> None:
    """Debian's package `prometheus` has the tool."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    copy = tmp_path / "prometheus"
    shutil.copytree(DIRECTORY, copy)
    (copy / "metrics_token").write_text("partridge")
    for check in (["rules", "alerts.yml"], ["config", "prometheus.yml"]):
        command = [promtool, "check", *check]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_expressions_are_closed_and_panels_do_not_overlap() -> None:
    for each in expressions():
        for opening, closing in ("()", "[]", "{}"):
            assert each.count(opening) == each.count(closing), each
        assert each.count('"') % 2 == 0, each
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert {x for x, _ in cells} == set(range(24))


def test_prometheus_reads_the_rules_and_asks_as_the_league_expects() -> None:
    read = yaml.safe_load((DIRECTORY / "prometheus.yml").read_text())
    assert read["rule_files"] == ["alerts.yml"]
    [league] = read["scrape_configs"]
    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
    [target] = league["static_configs"][0]["targets"]
    service, port = target.split(":")
    assert port in compose["services"][service]["command"]
    assert league["metrics_path"] == "/metrics"
