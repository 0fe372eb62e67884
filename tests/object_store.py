"""An S3 server on loopback in a thread of this process: moto, behind a door that can refuse, fail and count."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow.fs as fs
import pytest
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from ingest import objects

REFUSED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
ENVIRONMENT = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL_S3", "AWS_ROLE_ARN")


class Store:
    """The server: `url` for AWS_ENDPOINT_URL, `fail` requests to answer with 503, `asked`: (method, path) of each."""

    def __init__(self) -> None:
        self.fail = 0
        self.asked: list[tuple[str, str]] = []
        self._moto = DomainDispatcherApplication(create_backend_app)
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _answer(self, environ, start_response):
        self.asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        if "HTTP_AUTHORIZATION" not in environ:  # as a real store does with a private bucket
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [REFUSED]
        if self.fail:
            self.fail -= 1
            start_response("503 Slow Down", [("Content-Type", "application/xml")])
            return [BUSY]
        return self._moto(environ, start_response)

    def close(self) -> None:
        self._server.shutdown()

    def bucket(self, name: str) -> None:
        fs.S3FileSystem(endpoint_override=self.url, allow_bucket_creation=True).create_dir(name)


@contextmanager
def running() -> Iterator[Store]:
    """A store that the environment names, with credentials for it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ENVIRONMENT:
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        store = Store()
        patch.setenv("AWS_ENDPOINT_URL", store.url)
        objects._store.cache_clear()
        try:
            yield store
        finally:
            objects._store.cache_clear()
            store.close()
