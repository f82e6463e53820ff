"""Reads /openapi.json as a client would, and holds answers against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
from openapi_schema_validator import OAS31Validator, oas31_format_checker

from testing.api_calls import answered


class Description:
    """The document of a service."""

    def __init__(self, client: httpx.Client) -> None:
        response = client.get("/openapi.json")
        assert response.status_code == 200
        self.document: dict[str, Any] = response.json()
        self.schemas: dict[str, Any] = self.document["components"]["schemas"]

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Path, method and description of every operation."""
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield path, method.upper(), operation

    def operation(self, name: str) -> dict[str, Any]:
        (found,) = [operation for _, _, operation in self.operations() if operation["operationId"] == name]
        return found

    def check(self, schema: dict[str, Any], value: Any) -> None:
        """The value is what the schema says."""
        whole = {**schema, "components": self.document["components"]}
        problems = OAS31Validator(whole, format_checker=oas31_format_checker).iter_errors(value)
        assert [f"{problem.json_path}: {problem.message}" for problem in problems] == []

    def check_answer(self, name: str, response: httpx.Response) -> None:
        """The answer is one that the document announces for the operation."""
        responses = self.operation(name)["responses"]
        assert str(response.status_code) in responses, response.text
        self.check_response(responses[str(response.status_code)], response)

    def check_200(self, name: str, response: httpx.Response) -> dict[str, Any]:
        """The body of a 200 that is as the document says."""
        body = answered(response)
        self.check_answer(name, response)
        return body

    def check_response(self, described: dict[str, Any], response: httpx.Response) -> None:
        """Media type, body and headers of an answer are those of a described response."""
        kind = response.headers["content-type"].partition(";")[0]
        assert kind in described["content"]
        value = response.json() if kind == "application/json" else response.text
        self.check(described["content"][kind]["schema"], value)
        known = self.document["components"]["headers"]
        sent = {name for name in known if name in response.headers}
        assert sent <= set(described["headers"])
        assert {name for name in described["headers"] if known[name]["required"]} <= sent
        for name in sent:
            text = response.headers[name]
            self.check(known[name]["schema"], int(text) if known[name]["schema"]["type"] == "integer" else text)

    def body_examples(self, name: str) -> dict[str, Any]:
        """The named examples of an operation's body."""
        named = self.operation(name)["requestBody"]["content"]["application/json"]["examples"]
        return {key: example["value"] for key, example in named.items()}

    def error_example(self, name: str, status: int, code: str) -> dict[str, Any]:
        """The body that the document shows for an error of an operation."""
        media = self.operation(name)["responses"][str(status)]["content"]["application/json"]
        example: dict[str, Any] = media["examples"][code]["value"]
        return example
