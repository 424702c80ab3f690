import { createServer } from "node:http";

import { Provider } from "oidc-provider";

const CLIENT = { client_id: "lyceum", client_secret: "a secret of the tests alone" };

/** An OpenID provider of people by their login: their claims beside `sub`. It asks anybody for a login and any
 * password. Answers the settings that a server needs for it, and what the server asked it. */
export async function provider(t, people, base) {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const oidc = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [`${base}/sign-in/oidc/callback`] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    pkce: { required: () => true },
    cookies: { keys: ["a key of the tests alone"] },
    findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  });
  const asked = [];
  server.on("request", (request, response) => {
    asked.push(`${request.method} ${request.url.split("?")[0]}`);
    oidc.callback()(request, response);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const settings = {
    LYCEUM_OIDC__ISSUER: issuer,
    LYCEUM_OIDC__CLIENT_ID: CLIENT.client_id,
    LYCEUM_OIDC__CLIENT_SECRET: CLIENT.client_secret,
    LYCEUM_OIDC__NAME: "School ID",
    LYCEUM_OIDC__DOMAINS: "example.org",
    LYCEUM_OIDC__NEW_ACCOUNTS: "guide",
  };
  return { settings, asked };
}
