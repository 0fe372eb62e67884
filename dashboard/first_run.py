"""The first run: the demo, and logs from the browser as a data set of their own, with progress and cancel."""

import streamlit as st

from dashboard import dataset, jobs, library, screen
from dashboard.screen import t
from ingest.sources import PACKED, SUFFIXES

POLL = 0.7  # seconds between two looks at work that goes on
NEWEST = "start-job"  # of the session: the key of the work that it began last


def begin(key: tuple[str, ...], work: jobs.Work) -> None:
    """Starts work and looks at it; work that was done before may have been taken away since, so it is begun anew."""
    jobs.forget(key)
    jobs.start(key, work)
    st.session_state[NEWEST] = key


def demo() -> None:
    """Makes the demo, or opens the one there is."""
    st.subheader(t("start.demo"))
    st.write(t("start.demo_more", n=library.DEMO_ROUNDS))
    if library.path(library.DEMO) is not None:
        st.button(t("start.demo_open"), type="primary", on_click=dataset.show, args=(library.DEMO,))
    else:
        key = ("demo", str(library.folder()))
        job = jobs.find(key)
        busy = job is not None and job.state == jobs.RUNNING
        st.button(t("start.demo_make"), type="primary", disabled=busy, on_click=begin, args=(key, library.make_demo))


def refused(error: library.UploadError) -> str:
    """Why files are not taken."""
    word, file = error.args
    return t(f"start.{word}", name=file, megabytes=library.MOST_BYTES >> 20, gigabytes=library.MOST_UNPACKED >> 30)


def upload() -> None:
    """Takes files."""
    st.subheader(t("start.upload"))
    st.write(t("start.upload_more", endings=" ".join(SUFFIXES + PACKED), megabytes=library.MOST_BYTES >> 20))
    files = st.file_uploader(
        t("start.files"), accept_multiple_files=True, max_upload_size=library.MOST_BYTES >> 20, key="files"
    )
    if st.button(t("start.load"), disabled=not files):
        try:
            taken = library.take(files)
        except library.UploadError as error:
            screen.line(refused(error), "font-weight:600")
            return
        begin(("upload", str(library.folder() / taken.name)), lambda job: library.load(taken, job))
        st.rerun()
    st.caption(t("start.where"))
    screen.line(str(library.folder()), "opacity:.75;font-size:.85rem")


def progress(key: tuple[str, ...]) -> None:
    """How far the work is; once done, its data set is shown."""
    job = jobs.find(key)
    if job is None:
        return
    if job.state == jobs.RUNNING:
        share = min(job.done / job.total, 1.0) if job.total else 0.0
        st.progress(share, t("start.running", rounds=job.note) if job.note else t("start.begins"))
        st.button(t("start.cancel"), on_click=job.cancel)
    elif job.state == jobs.FAILED:
        told = isinstance(job.error, library.UploadError)
        screen.line(refused(job.error) if told else f"{t('start.failed')} {job.error}", "font-weight:600")
    elif job.state == jobs.CANCELLED:
        st.write(t("start.cancelled"))
    else:
        del st.session_state[NEWEST]
        dataset.show(job.value)
        screen.go("overview")


def work() -> None:
    """The work that this session began last; drawn again and again while it goes on."""
    key = st.session_state.get(NEWEST)
    job = jobs.find(key) if key else None
    if job is None:
        return
    running = job.state == jobs.RUNNING

    def look() -> None:
        if running and job.state != jobs.RUNNING:
            st.rerun()
        progress(key)

    st.fragment(look, run_every=POLL if running else None)()


def panels() -> None:
    """What goes on, the demo, the upload, and how the command line does the same."""
    work()
    left, right = st.columns(2, gap="large")
    with left:
        demo()
    with right:
        upload()
    with st.expander(t("start.shell")):
        st.markdown(t("start.shell_more"))
