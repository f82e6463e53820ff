"""The version of the client, which the distribution and the User-Agent carry: that of the whole project."""

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("siteglass-client")
    except PackageNotFoundError:  # the service has the client inside its own distribution
        return version("siteglass-server")


__version__ = _installed()
