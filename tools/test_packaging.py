#!/usr/bin/env python3
"""Tests of what packages, containers and workflows say. Exit code 0 also where PyYAML is missing;
the workflows are then read as text only."""

import json
import re
import subprocess
import unittest

import make_sbom
from make_sbom import ROOT, Part, document, licence_of

TESTS_ONLY = {"libgtest-dev", "libbenchmark-dev", "python3-venv"}


def system_packages() -> set[str]:
    """Those of tools/lib.sh; of several choices the first."""
    text = (ROOT / "tools/lib.sh").read_text(encoding="utf-8")
    body = re.search(r"^system_packages=\((.*?)^\)", text, re.MULTILINE | re.DOTALL).group(1)
    return {word.strip("'").split("|")[0] for word in body.split()}


class Containers(unittest.TestCase):
    def test_they_install_what_the_build_needs(self):
        for name in ("Dockerfile", "Dockerfile.cuda"):
            text = (ROOT / "docker" / name).read_text(encoding="utf-8")
            build = text.split("\nFROM ")[1]
            missing = system_packages() - TESTS_ONLY - set(build.split())
            self.assertEqual(missing, set(), name)

    def test_instructions_and_stages(self):
        known = {"FROM", "RUN", "COPY", "USER", "ENV", "ARG", "VOLUME", "WORKDIR", "ENTRYPOINT"}
        for name in ("Dockerfile", "Dockerfile.cuda"):
            text = (ROOT / "docker" / name).read_text(encoding="utf-8")
            joined = re.sub(r"\\\n", " ", text)
            lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
            self.assertEqual({line.split()[0] for line in lines} - known, {"CMD"}, name)
            self.assertEqual(
                next(line for line in lines if line.startswith("FROM")).split()[2], "AS"
            )
            self.assertIn("USER diarist", lines)
            for line in lines:
                if line.startswith(("ENTRYPOINT", "CMD")):
                    json.loads(line.split(" ", 1)[1])


class Workflows(unittest.TestCase):
    def test_they_call_ci_run(self):
        for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
            text = path.read_text(encoding="utf-8")
            self.assertRegex(text, r"(?m)^ +- run: \.ci/run$", path.name)
            try:
                import yaml
            except ImportError:
                continue
            read = yaml.safe_load(text)
            for job in read["jobs"].values():
                runs = [step.get("run") for step in job["steps"]]
                self.assertIn(".ci/run", runs, path.name)
                self.assertTrue(all("run" in s or "uses" in s for s in job["steps"]))


class Release(unittest.TestCase):
    def test_the_scripts_are_shell(self):
        for script in ("tools/release.sh", "dev", ".ci/run"):
            subprocess.run(["bash", "-n", ROOT / script], check=True)

    def test_the_version_has_changes(self):
        text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"^project\(diarist VERSION ([0-9.]+)", text, re.MULTILINE).group(1)
        self.assertIn(f"\n## {version}\n", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


class Sbom(unittest.TestCase):
    PARTS = (
        Part("libfmt9:amd64", "fmtlib", "9.1.0", "MIT", linked=True),
        Part("libcli11-dev", "cli11", "2.1.2", "BSD-3-Clause", linked=False),
    )

    def test_every_relation_is_between_packages_that_are_there(self):
        made = document("1.2.3", "ab" * 32, list(self.PARTS), cuda=True, epoch=86400)
        ids = [package["SPDXID"] for package in made["packages"]]
        self.assertEqual(len(ids), len(set(ids)))
        for relation in made["relationships"]:
            self.assertIn(relation["relatedSpdxElement"], ids)
            self.assertIn(relation["spdxElementId"], [*ids, "SPDXRef-DOCUMENT"])
        kinds = {(r["relatedSpdxElement"], r["relationshipType"]) for r in made["relationships"]}
        self.assertIn(("SPDXRef-libfmt9-amd64", "DYNAMIC_LINK"), kinds)
        self.assertIn(("SPDXRef-libcli11-dev", "STATIC_LINK"), kinds)
        self.assertEqual(made["creationInfo"]["created"], "1970-01-02T00:00:00Z")
        for identifier in ids:
            self.assertRegex(identifier, r"^SPDXRef-[A-Za-z0-9.-]+$")

    def test_an_unknown_licence_is_an_error(self):
        self.assertEqual(licence_of("gcc-12", None), make_sbom.GCC)
        with self.assertRaises(SystemExit):
            licence_of("a-library-that-nobody-knows", None)

    def test_the_models_are_those_of_notice(self):
        notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
        for model in make_sbom.MODELS:
            self.assertIn(model.name.split()[0], notice)


if __name__ == "__main__":
    unittest.main()
