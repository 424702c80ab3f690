const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const served = (module) => methods.filter((method) => typeof module[method] === "function");
// Also an app of another copy of Hono, but not of another router.
const isHono = (value) =>
  typeof value?.errorHandler === "function" && value.routes?.every?.(({ handler }) => typeof handler === "function");
// What a default export answers requests with: `export default function fetch` or `export default { fetch }`.
const fetcher = ({ default: given }) => {
  if (typeof given === "function") return given;
  return typeof given?.fetch === "function" ? given.fetch.bind(given) : undefined;
};
// The base path of a default export, which serves everything below it.
const base = (path) => path.replace(/\/:\w+\{\.\+\}$/, "");
// The paths in a Hono app are those below its file, or whole ones such as `/api/scores/:id`.
const mountPath = (path, { routes }) => {
  const isBelow = (route) => route.path === base(path) || route.path.startsWith(`${base(path)}/`);
  return routes.some(isBelow) ? "/" : base(path);
};
const problem = (code, message) => ({ error: { code, message, details: [] } });
// The stack of an error, followed by those of its causes.
const stacks = (error, depth = 0) => {
  const own = [error.stack ?? String(error)];
  return error.cause instanceof Error && depth < 5 ? own.concat(stacks(error.cause, depth + 1)) : own;
};
const app = new Hono();
// Games run on pages of any origin. Callers are identified by a token and never by cookies, so no page can act for
// another one. If a route sets its own CORS headers, they are kept.
app.use(async (c, next) => {
  if (c.req.method === "OPTIONS" && c.req.header("access-control-request-method")) {
    return c.body(null, 204, {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": methods.join(", "),
      "Access-Control-Allow-Headers": c.req.header("access-control-request-headers") ?? "",
      "Access-Control-Max-Age": String(preflightSeconds),
    });
  }
  await next();
  if (!c.req.header("origin") || c.res.status === 101 || c.res.headers.has("access-control-allow-origin")) return;
  c.header("Access-Control-Allow-Origin", "*");
  c.header("Access-Control-Expose-Headers", "*");
});
app.use(async (c, next) => {
  const told = c.req.header("lyceum-user");
  const user = told ? JSON.parse(decodeURIComponent(told)) : null;
  c.set("user", user);
  c.set("lyceumUser", user);
  c.set("sdk", sdk(c.env));
  try {
    await next();
  } catch (thrown) {
    // Hono passes on values that are not errors.
    throw thrown instanceof Error ? thrown : new Error(`a route threw a value that is not an Error: ${JSON.stringify(thrown)}`);
  }
});
// What `GET /api` lists: each path with its methods.
const index = new Map();
const list = (path, ...methods) => index.set(path, [...new Set([...(index.get(path) ?? []), ...methods])]);
const add = ([path, module, file]) => {
  const methods = served(module);
  for (const method of methods) {
    const answer = module[method];
    app.on(method, path, (c) => answer(c));
  }
  if (methods.length > 0) list(path, ...methods);
  const fetch = fetcher(module);
  if (isHono(module.default)) {
    const before = app.routes.length;
    app.route(mountPath(path, module.default), module.default);
    const isMiddleware = ({ method, path }) => method === "ALL" && path.endsWith("*");
    for (const route of app.routes.slice(before)) if (!isMiddleware(route)) list(route.path, route.method);
  } else if (fetch) {
    list(path, "ALL");
    const answer = async (c) => {
      const response = await fetch(c.req.raw, c.env, c.executionCtx);
      if (response instanceof Response) return response;
      throw new TypeError(`the default export of ${file} must return a Response; it is called with (request, env, ctx)`);
    };
    app.all(path, answer).all(`${base(path)}/*`, answer);
  } else if (methods.length === 0 && module.default !== undefined) {
    throw new TypeError(`the default export of ${file} must be a Hono app, a function (request, env, ctx), or an object with such a function named fetch`);
  } else {
    app.all(path, (c) => c.json(problem("METHOD_NOT_ALLOWED", `${methods.join(", ")} are served here`), 405, { Allow: methods.join(", ") }));
  }
};
const listed = (c) => c.json({ routes: [...index].map(([path, methods]) => ({ path, methods })) });
// Routes may replace `/api`, but not this path.
if (isDevelopment) app.get("/api/__lyceum/routes", listed);
// Such a file answers everything that nothing else answers.
const isLast = ([path, module]) => module.default !== undefined && base(path) === "/api";
for (const route of routes) if (!isLast(route)) add(route);
// Forwards learning requests of the project's players to the platform, with the player's token.
const learn = (c) => {
  const { pathname, search } = new URL(c.req.url);
  const rest = pathname.replace(/^\/api\/integrations\/[a-z]+/, "");
  if (!c.env.LYCEUM) return c.json(problem("LMS_DISABLED", "there is no platform to learn with; start `lyceum sandbox`"), 503);
  // Without a player's token, the platform would treat this as a request of the backend, which has access to every
  // student.
  if (!c.get("user")) return c.json(problem("UNAUTHORIZED", "this needs the token of a player of this project"), 401);
  return c.env.LYCEUM.fetch(`/api/lms${rest}${search}`, c.req.raw);
};
if (learns) for (const name of ["lms", "timeback"]) app.all(`/api/integrations/${name}/*`, learn);
for (const route of routes) if (isLast(route)) add(route);
app.get("/api", listed);
app.get("/health", (c) => c.json({ status: "ok", timestamp: new Date().toISOString() }));
app.notFound((c) => c.json(problem("NOT_FOUND", `there is no route ${c.req.path}; GET /api lists all`), 404));
app.onError((error, c) => {
  if (typeof error.getResponse === "function") return error.getResponse();
  console.error(error);
  const answer = problem("INTERNAL", "the route failed; the logs say why");
  if (!isDevelopment) return c.json(answer, 500);
  // `lyceum dev` replaces the body by one with the places in the sources.
  return c.json({ ...answer, stacks: stacks(error) }, 500, { "lyceum-thrown": "1" });
});
export default { fetch: (request, env, ctx) => app.fetch(request, env, ctx) };
