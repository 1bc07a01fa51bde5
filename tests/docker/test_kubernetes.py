"""The manifests for Kubernetes run the commands of the containers, and all that they name exists.

No cluster has run them: this checks their structure.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from bots_sdk.sandbox import numpy_files, playout_files
from bots_sdk.sandbox.limits import Limits
from config.environment import defaults
from config.settings_table import TEXTS
from engine.blocks import MAX_SEATS, MIN_SEATS
from league.play.bot_processes import MAX_RESIDENT_BYTES
from tests.docs.documents import ROOT

DIRECTORY = ROOT / "deploy" / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((DIRECTORY / "kustomization.yaml").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
OBJECTS: list[dict[str, Any]] = [
    each
    for name in KUSTOMIZATION["resources"]
    for each in yaml.safe_load_all((DIRECTORY / name).read_text())
]
SECRETS = {"SECRET_KEY_FILE", "DATABASE_URL_FILE", "REDIS_URL_FILE", "METRICS_TOKEN_FILE"}
VERSIONS = {
    "ConfigMap": "v1",
    "CronJob": "batch/v1",
    "Deployment": "apps/v1",
    "Ingress": "networking.k8s.io/v1",
    "Job": "batch/v1",
    "PersistentVolumeClaim": "v1",
    "PodDisruptionBudget": "policy/v1",
    "Service": "v1",
}


ARCHIVE = DIRECTORY / "archive"


def archived() -> list[dict[str, Any]]:
    """Return the objects with the component of the archive, as Kustomize would make them."""
    component = yaml.safe_load((ARCHIVE / "kustomization.yaml").read_text())
    objects = deepcopy(OBJECTS)
    for patch in component["patches"]:
        target = patch["target"]
        matching = [
            each
            for each in objects
            if each["kind"] == target["kind"]
            and re.fullmatch(target["name"], each["metadata"]["name"])
        ]
        assert matching, target
        for each in matching:
            for change in yaml.safe_load(patch["patch"]):
                assert change["op"] == "add"
                *way, last = change["path"].split("/")[1:]
                at: Any = each
                for step in way:
                    at = at[int(step)] if isinstance(at, list) else at[step]
                if last == "-":
                    at.append(change["value"])
                else:
                    at[last] = change["value"]
    for name in component["resources"]:
        objects += yaml.safe_load_all((ARCHIVE / name).read_text())
    return objects


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    """Return the objects of a kind by name."""
    return {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] == kind}


def template_of(each: dict[str, Any]) -> dict[str, Any] | None:
    """Return the template of the pods of an object, None if it has none."""
    spec = each.get("spec", {})
    template: dict[str, Any] | None = spec.get("jobTemplate", {}).get("spec", spec).get("template")
    return template


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each pod's specification with the name of its object."""
    for each in OBJECTS:
        if template := template_of(each):
            yield each["metadata"]["name"], template["spec"]


PODS = dict(pods())
LEAGUE = {name: pod for name, pod in PODS.items() if name != "broker"}
SERVING = {name: pod for name, pod in LEAGUE.items() if name not in ("prepare", "backup")}


def container(pod: dict[str, Any]) -> dict[str, Any]:
    [found] = pod["containers"]
    assert isinstance(found, dict)
    return found


def test_kustomize_lists_each_file_and_no_object_twice() -> None:
    files = {path.name for path in DIRECTORY.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(KUSTOMIZATION["resources"]) == files
    assert [image["name"] for image in KUSTOMIZATION["images"]] == ["twelfth-night"]
    named = [(each["kind"], each["metadata"]["name"]) for each in OBJECTS]
    assert len(set(named)) == len(named)
    for each in OBJECTS:
        assert each["apiVersion"] == VERSIONS[each["kind"]]


def test_an_update_can_apply_the_job_that_migrates_before_all_else() -> None:
    """New code can't use the old schema."""
    label = "app.kubernetes.io/component"
    [first] = [
        each for each in OBJECTS if each["metadata"].get("labels", {}).get(label) == "prepare"
    ]
    assert (first["kind"], first["metadata"]["name"]) == ("Job", "prepare")
    guide = (ROOT / "docs" / "operate.md").read_text("utf-8")
    alone = guide.index(f"kubectl apply -k deploy/kubernetes --selector {label}=prepare\n")
    assert guide.index("wait --for=condition=complete job/prepare", alone) > alone


@pytest.mark.skipif(not shutil.which("kubectl"), reason="needs kubectl, which has Kustomize")
def test_kustomize_makes_the_objects_with_the_archive_as_the_guide_says(tmp_path: Path) -> None:
    shutil.copytree(DIRECTORY, tmp_path / "kubernetes")
    file = tmp_path / "kubernetes" / "kustomization.yaml"
    text = file.read_text()
    assert text.count("\n# components:\n#   - archive\n") == 1
    file.write_text(text.replace("# components:\n#   -", "components:\n  -"))
    command = ["kubectl", "kustomize", str(file.parent)]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    [image] = KUSTOMIZATION["images"]
    expected = archived()
    for each in expected:
        each["metadata"]["namespace"] = KUSTOMIZATION["namespace"]
        if template := template_of(each):
            for run in template["spec"]["containers"]:
                if run["image"] == image["name"]:
                    run["image"] = f"{image['newName']}:{image['newTag']}"
    assert by_name(yaml.safe_load_all(made)) == by_name(expected)


def by_name(objects: Iterable[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return objects by kind and name."""
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def test_the_objects_fit_the_schemas_of_kubernetes() -> None:
    """The package has the schemas of all versions, 108 MB, so only CI installs it."""
    schemas = pytest.importorskip(
        "kubernetes_validate", reason="schemas: pip install -r requirements/schemas.txt"
    )
    for each in OBJECTS + archived():
        schemas.validate(each, "1.30.0", strict=True)


def test_each_part_that_reads_or_writes_the_archive_has_its_volume() -> None:
    objects = archived()
    at = COMPOSE["web"]["environment"]["ARCHIVE_DIRECTORY"]
    with_volume = set()
    for each in objects:
        if template := template_of(each):
            pod = template["spec"]
            names = [volume["name"] for volume in pod["volumes"]]
            mounts = {mount["name"]: mount["mountPath"] for mount in container(pod)["volumeMounts"]}
            assert set(names) == mounts.keys()
            assert len(set(names)) == len(names)
            if mounts.get("archive") == at:
                with_volume.add(each["metadata"]["name"])
    # `prepare` only migrates; the front and the broker know no records.
    assert with_volume == set(PODS) - {"prepare", "front", "broker"}
    [settings] = [each["data"] for each in objects if each["metadata"]["name"] == "league-settings"]
    assert settings["ARCHIVE_DIRECTORY"] == at
    assert settings.keys() <= TEXTS.keys()


def test_every_part_of_the_containers_runs_its_command_here_too() -> None:
    # A Service does what the door does in compose: it holds the address of the front. A CronJob
    # makes the backups.
    assert set(PODS) == set(COMPOSE) - {"database", "door", "backups"}
    for name, pod in LEAGUE.items():
        if name == "front":
            continue  # in compose a shell puts its addresses together
        # A pod plays one match at a time: its limit of memory is for that one.
        given = {"${WEB_THREADS:-16}": "$(WEB_THREADS)", "${PLAY_WORKERS:-0}": "1"}
        wanted = [given.get(word, word) for word in COMPOSE[name]["command"]]
        assert sorted(container(pod)["command"]) == sorted(wanted), name
    assert " ".join(container(PODS["front"])["command"]) in COMPOSE["front"]["command"][-1]
    assert f":-{container(PODS['broker'])['image']}}}" in COMPOSE["broker"]["image"]
    assert {container(pod)["image"] for pod in LEAGUE.values()} == {"twelfth-night"}


def test_selectors_choose_the_pods_of_their_object() -> None:
    for name, each in of_kind("Deployment").items():
        labels = template_of(each)["metadata"]["labels"]  # type: ignore[index]
        assert each["spec"]["selector"]["matchLabels"] == {"app": name}
        assert labels["app"] == name
    for kind in ("Service", "PodDisruptionBudget"):
        for name, each in of_kind(kind).items():
            selector = each["spec"]["selector"]
            assert selector.get("matchLabels", selector) == {"app": name}
            assert name in of_kind("Deployment")


def test_services_and_probes_use_ports_that_their_container_opens() -> None:
    for name, service in of_kind("Service").items():
        [opened] = container(PODS[name])["ports"]
        [port] = service["spec"]["ports"]
        assert (port["targetPort"], port["port"]) == (opened["name"], opened["containerPort"])
        if "--port" in (command := container(PODS[name])["command"]):
            assert command[command.index("--port") + 1] == str(port["port"])
    for pod in PODS.values():
        names = {port["name"] for port in container(pod).get("ports", [])}
        for key, probe in container(pod).items():
            if key.endswith("Probe"):
                how = probe.get("httpGet") or probe.get("tcpSocket")
                assert how is None or how["port"] in names
    [rule] = of_kind("Ingress")["league"]["spec"]["rules"]
    [path] = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": "front", "port": {"name": "http"}}
    upstreams = {each["name"]: each["value"] for each in container(PODS["front"])["env"]}
    assert upstreams["WEB_UPSTREAM"] == "web:8001"
    assert upstreams["GATEWAY_UPSTREAM"] == "gateway:8002"


def test_every_part_has_probes_limits_and_time_to_end() -> None:
    for name, pod in SERVING.items():
        assert {"livenessProbe"} <= container(pod).keys(), name
        if name in of_kind("Service"):
            assert "readinessProbe" in container(pod), name
        grace = COMPOSE[name].get("stop_grace_period", "10s")
        seconds = int(grace[:-1]) * (60 if grace.endswith("m") else 1)
        assert pod["terminationGracePeriodSeconds"] >= seconds, name
    for pod in PODS.values():
        assert container(pod)["resources"]["limits"]["memory"]
        assert container(pod)["resources"]["requests"].keys() == {"cpu", "memory"}


def test_the_bots_of_all_matches_at_a_time_fit_into_the_memory_of_their_pod() -> None:
    """The kernel would kill a bot for lack of memory, and that counts as the bot's crash."""
    for name in ("play", "checks"):
        command = container(PODS[name])["command"]
        matches = int(command[command.index("--concurrency") + 1])
        assert memory(name, "limits") >= matches * match_bytes() + memory(name, "requests"), name
    kept = MAX_RESIDENT_BYTES + match_bytes()  # those in use may stay beside the kept ones
    assert memory("seats", "limits") >= kept + memory("seats", "requests")


def memory(name: str, kind: str) -> int:
    """Return the bytes that a pod requests, which its worker itself takes, or its limit."""
    found = re.fullmatch(r"(\d+)([MG])i", container(PODS[name])["resources"][kind]["memory"])
    assert found
    return int(found[1]) << {"M": 20, "G": 30}[found[2]]


def match_bytes() -> int:
    """Return the memory that all bots of a match may take, each with the largest limit."""
    libraries = (numpy_files.NAME, playout_files.NAME)
    return max(
        seats * (limits.data_bytes or 0)
        for seats in range(MIN_SEATS, MAX_SEATS + 1)
        for table in [Limits().at_table(seats)]
        for limits in (table.with_libraries(libraries), table.of_module())
    )


def test_no_part_runs_as_root_or_writes_outside_its_volumes() -> None:
    for pod in PODS.values():
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["automountServiceAccountToken"]
        assert not pod["enableServiceLinks"]  # their variables look like settings
        rights = container(pod)["securityContext"]
        assert rights["readOnlyRootFilesystem"]
        assert rights["capabilities"] == {"drop": ["ALL"]}
    user = re.search(r"^USER (\d+)$", (ROOT / "docker" / "Dockerfile").read_text(), re.MULTILINE)
    assert user
    assert {pod["securityContext"]["runAsUser"] for pod in LEAGUE.values()} == {int(user[1])}


def test_volumes_settings_and_secrets_that_are_named_exist() -> None:
    text = (ROOT / "docs" / "operate.md").read_text()
    claims = of_kind("PersistentVolumeClaim")
    for name, pod in PODS.items():
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert {mount["name"] for mount in container(pod)["volumeMounts"]} == volumes.keys()
        for volume in volumes.values():
            if "persistentVolumeClaim" in volume:
                assert volume["persistentVolumeClaim"]["claimName"] in claims
            if "secret" in volume:
                assert f"create secret generic {volume['secret']['secretName']}" in text
        for source in container(pod).get("envFrom", []):
            assert source["configMapRef"]["name"] in of_kind("ConfigMap"), name
    keys = set(re.findall(r"--from-file=([a-z-]+)=", text))
    for name, pod in LEAGUE.items():
        if name == "front":
            continue
        files = {each["name"]: each["value"] for each in container(pod)["env"]}
        assert files.keys() == SECRETS
        assert {Path(path).name for path in files.values()} == keys


def test_every_setting_is_in_the_table_of_settings() -> None:
    settings = of_kind("ConfigMap")["league-settings"]["data"]
    assert settings.keys() <= TEXTS.keys()
    assert {name.removesuffix("_FILE") for name in SECRETS} <= TEXTS.keys()
    assert all(isinstance(value, str) for value in settings.values())


def test_a_setting_of_a_command_has_a_default_beside_it() -> None:
    """An operator's own settings.yaml lacks the settings of later versions."""
    for name, pod in PODS.items():
        run = container(pod)
        text = " ".join([*run["command"], *run.get("args", [])])
        named = set(re.findall(r"\$\(([A-Z_]+)\)", text))
        given: dict[str, str] = {}
        for source in run.get("envFrom", []):
            if (found := source["configMapRef"]["name"]) != "league-settings":
                given |= of_kind("ConfigMap")[found]["data"]
        assert named <= given.keys() | {each["name"] for each in run.get("env", [])}, name
        assert set(given) <= named
        for key, value in given.items():
            assert value == defaults[key]
        if given:  # of two sources the last one wins
            assert run["envFrom"][-1]["configMapRef"]["name"] == "league-settings"


def test_one_part_of_each_kind_may_be_lost() -> None:
    for name in ("web", "gateway", "front", "clock", "beat", "play"):
        assert of_kind("Deployment")[name]["spec"]["replicas"] >= 2, name
    for name in ("web", "gateway", "front"):
        strategy = of_kind("Deployment")[name]["spec"]["strategy"]
        assert strategy["rollingUpdate"]["maxUnavailable"] == 0
        assert name in of_kind("PodDisruptionBudget")


@pytest.mark.parametrize("part", ["web", "beat"])
def test_the_league_accepts_the_settings(part: str, tmp_path: Path) -> None:
    values = {
        "secret-key": "a secret key that is long enough, and differs from all others: 1234567890",
        "database-url": "postgresql://league@nowhere/league",
        "redis-url": "redis://broker:6379/0",
        "metrics-token": "partridge",
    }
    for name, value in values.items():
        (tmp_path / name).write_text(value + "\n")
    settings = dict(of_kind("ConfigMap")["league-settings"]["data"])
    for each in container(PODS[part])["env"]:
        settings[each["name"]] = str(tmp_path / Path(each["value"]).name)
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=kept | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
