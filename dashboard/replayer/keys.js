// The viewer's keys.  They work wherever the page is, but not while someone types or works another control.

export function actions(viewer) {
  const { state } = viewer;
  return {
    ArrowLeft: () => state.step(-1),
    ArrowRight: () => state.step(1),
    ArrowUp: () => state.own(-1),
    ArrowDown: () => state.own(1),
    PageUp: () => state.key(-1),
    PageDown: () => state.key(1),
    Home: () => state.go(0),
    End: () => state.go(state.last),
    " ": () => viewer.play(),
    h: () => state.toggleHands(),
    b: () => viewer.copy(),
    "?": () => viewer.toggleHelp(),
  };
}

export function onKey(viewer, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !viewer.host.isConnected) return;
  const path = event.composedPath();
  const where = path[0];
  if (!path.includes(viewer.host) && where !== document.body) return;
  const act = actions(viewer)[event.key];
  if (!act || (event.key === " " && ["BUTTON", "SUMMARY", "INPUT"].includes(where.tagName))) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
