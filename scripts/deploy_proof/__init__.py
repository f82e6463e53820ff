"""Installs Siteglass on a bare Debian, upgrades it under load, breaks each part, and restores a backup: one command.

PYTHONPATH=scripts:. python -m deploy_proof [--leads N] [--page docs/proof.md] [--keep] [--skip-previous-tests]
"""
