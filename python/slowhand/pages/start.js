// Each part that a page has begins to work.

const timelines = Array.from(document.querySelectorAll("section.handshake"), (section) => new Timeline(section));
const playbacks = Array.from(document.querySelectorAll("section.play"), (section) =>
  new Playback(section, JSON.parse(section.querySelector(".data").textContent), timelines[0]));
