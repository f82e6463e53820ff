"""Operator commands on people who run the service in the console: add, list, remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from siteglass.cli.accounts import actor, run

if TYPE_CHECKING:
    from siteglass.admin.operators import DeskRole


@click.group()
def operator() -> None:
    """People who run the service in the console at /admin."""


@operator.command("add")
@click.argument("email")
@click.option("--role", type=click.Choice(["support", "operator"]), default="operator", show_default=True)
def operator_add(email: str, role: DeskRole) -> None:
    """Let somebody who signs in with two steps run the service, or give them another role. Support only reads."""
    from siteglass.admin import operators

    run(lambda postgres: operators.set_operator(postgres, email, role, actor=actor()))
    click.echo(f"{email} runs this service as {role}, at /admin.")


@operator.command("list")
def operator_list() -> None:
    """List who runs the service."""
    from siteglass.admin import operators

    for one in run(operators.list_operators):
        second = "two-step" if one.has_second_factor else "no two-step sign-in, so the console refuses them"
        click.echo(f"{one.person_id}  {one.email}  {one.name}  {one.role}  {second}")


@operator.command("remove")
@click.argument("person_id", type=int)
def operator_remove(person_id: int) -> None:
    """Take the role away from a person, by number; their tokens end."""
    from siteglass.admin import operators

    run(lambda postgres: operators.remove_operator(postgres, person_id, actor=actor()))
    click.echo(f"Person {person_id} no longer runs this service.")
