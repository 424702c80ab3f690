// Sends a file that is dropped anywhere on a form with a file field.
for (const form of document.querySelectorAll("[data-drop]")) {
  const field = form.querySelector("input[type=file]");
  const hold = (over) => (event) => {
    event.preventDefault();
    form.classList.toggle("over", over);
  };
  form.addEventListener("dragover", hold(true));
  form.addEventListener("dragleave", hold(false));
  form.addEventListener("drop", (event) => {
    hold(false)(event);
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    form.requestSubmit();
  });
}
