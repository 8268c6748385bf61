// For hosts that cannot set headers: sends the page's own files on with the two that let its threads share memory.
// Nothing is stored, and nothing from elsewhere is fetched.
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

async function withHeaders(request) {
  const response = await fetch(request);
  if (response.type === "opaque" || response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

addEventListener("fetch", (event) => {
  if (new URL(event.request.url).origin === location.origin) event.respondWith(withHeaders(event.request));
});
