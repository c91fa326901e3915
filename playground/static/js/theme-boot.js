// Applies the remembered colour scheme before the first paint. A classic script on purpose: modules run too late for that.
(function () {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (error) {
    console.info("No storage here, the system's colour scheme is used:", error.message);
  }
})();
