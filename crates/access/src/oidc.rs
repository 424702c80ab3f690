//! Sign-in by an OpenID provider (OpenID Connect Core 1.0, the code flow with PKCE): what goes out, and
//! what must hold of what comes back. Pure; the server carries it.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use serde_json::{Map, Value};

use crate::limits;
use crate::secret;

/// An attempt of a browser to sign in. Everything follows from a secret that the browser keeps in a cookie: a response
/// to a sign-in that another browser began, or no browser, is rejected.
pub struct SignInAttempt(String);

impl SignInAttempt {
    /// A new try.
    pub fn begin() -> Self {
        Self(secret::random_text::<32>(""))
    }

    /// The try of a cookie.
    pub fn of_secret(secret: &str) -> Self {
        Self(secret.to_owned())
    }

    /// The secret that the browser keeps.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// The `state` that the provider sends back with the browser (RFC 6749, 10.12).
    pub fn state(&self) -> String {
        secret::derived("oidc state", &self.0)
    }

    /// The `nonce` that the ID token repeats.
    pub fn nonce(&self) -> String {
        secret::derived("oidc nonce", &self.0)
    }

    /// The code verifier, which proves at the token endpoint who started the sign-in (RFC 7636, 4.1).
    pub fn verifier(&self) -> String {
        secret::derived("oidc verifier", &self.0)
    }

    /// The code challenge that the provider receives first: `S256` (RFC 7636, 4.2).
    pub fn challenge(&self) -> String {
        secret::text(&secret::hash(&self.verifier()))
    }

    /// Whether the provider's answer belongs to this try.
    pub fn is_state(&self, sent: &str) -> bool {
        secret::is_equal(&secret::hash(&self.state()), &secret::hash(sent))
    }
}

/// A provider, read from its discovery document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Its name for itself, and the base of its address.
    pub issuer: String,
    /// Where browsers are sent.
    pub authorization: String,
    /// Where codes are changed for tokens.
    pub token: String,
    /// Where its keys are.
    pub keys: String,
    /// The UserInfo endpoint, for claims that ID tokens lack.
    pub people: Option<String>,
    /// Whether the token endpoint reads the secret from the header `Authorization`, else from the body.
    pub takes_basic: bool,
}

impl Provider {
    /// Reads a discovery document (OpenID Connect Discovery 1.0, 4.3). The server itself connects to the
    /// issuer's own host and to `hosts` alone. Errors: another issuer; an endpoint that is missing, is not
    /// https where the issuer is, or is elsewhere.
    pub fn read(document: &Value, issuer: &str, hosts: &[String]) -> Result<Self> {
        if document["issuer"].as_str() != Some(issuer) {
            let claims = &document["issuer"];
            return Err(refused(message!("its discovery document names the issuer {claims}")));
        }
        let endpoint = |name: &str| {
            let url = document[name].as_str().filter(|url| scheme(url) == scheme(issuer));
            url.map(str::to_owned).ok_or_else(|| {
                refused(message!("its discovery document has no '{name}' with the issuer's scheme"))
            })
        };
        let trusted_endpoint = |name: &str| {
            let url = endpoint(name)?;
            let is_known = origin(&url) == origin(issuer)
                || hosts.iter().any(|host| origin(&url) == Some(("https", host)));
            match is_known {
                true => Ok(url),
                false => Err(refused(message!(
                    "'{name}' is at '{url}', on another host than the issuer; add the host to \
                     'oidc.hosts'"
                ))),
            }
        };
        let methods = &document["token_endpoint_auth_methods_supported"];
        Ok(Self {
            issuer: issuer.to_owned(),
            authorization: endpoint("authorization_endpoint")?,
            token: trusted_endpoint("token_endpoint")?,
            keys: trusted_endpoint("jwks_uri")?,
            people: match document.get("userinfo_endpoint") {
                Some(_) => Some(trusted_endpoint("userinfo_endpoint")?),
                None => None,
            },
            takes_basic: methods
                .as_array()
                .is_none_or(|all| all.iter().any(|method| method == "client_secret_basic")),
        })
    }
}

/// The person that an ID token names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTokenClaims {
    /// The person's id at the provider; it never changes there.
    pub subject: String,
    /// The person's e-mail address, where the provider says that it is theirs.
    pub email: Option<String>,
    /// The person's name.
    pub name: Option<String>,
}

impl IdTokenClaims {
    /// Reads the payload of an ID token whose signature holds (OpenID Connect Core 1.0, 3.1.3.7).
    /// Errors: another issuer, audience or nonce; a time that is over or has not begun; no subject.
    pub fn read(
        payload: &Map<String, Value>,
        issuer: &str,
        client: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<Self> {
        let text = |name: &str| payload.get(name).and_then(Value::as_str);
        let at = |name: &str| payload.get(name).and_then(Value::as_f64);
        let audiences: Vec<&str> = match payload.get("aud") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_party = match text("azp") {
            Some(party) => party == client,
            None => audiences.len() == 1,
        };
        #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^52")]
        let (now, skew) = (now.seconds() as f64, limits::OIDC_CLOCK_SKEW_S as f64);
        let holds = [
            (text("iss") == Some(issuer), "it has another issuer"),
            (audiences.contains(&client) && is_party, "it is meant for another client"),
            (text("nonce") == Some(nonce), "it does not answer this sign-in"),
            (at("exp").is_some_and(|end| now < end + skew), "it has expired"),
            (at("iat").is_some_and(|issued| issued <= now + skew), "it was issued in the future"),
            (at("nbf").is_none_or(|begin| begin <= now + skew), "it is not valid yet"),
        ];
        if let Some((_, fault)) = holds.into_iter().find(|(holds, _)| !holds) {
            return Err(refused(message!("its ID token is rejected: {fault}")));
        }
        let subject = text("sub").filter(|subject| !subject.is_empty());
        let subject = subject.ok_or_else(|| refused("its ID token has no subject"))?.to_owned();
        let mut claims = Self { subject, email: None, name: None };
        claims.learn(payload);
        Ok(claims)
    }

    /// Adds the claims of the UserInfo endpoint (OpenID Connect Core 1.0, 5.3.2).
    /// Errors: they describe another person.
    pub fn complete(&mut self, claims: &Map<String, Value>) -> Result<()> {
        if claims.get("sub").and_then(Value::as_str) != Some(&self.subject) {
            return Err(refused("its UserInfo endpoint describes another person"));
        }
        self.learn(claims);
        Ok(())
    }

    fn learn(&mut self, claims: &Map<String, Value>) {
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_theirs = claims.get("email_verified") == Some(&Value::Bool(true));
        self.email = self.email.take().or(text("email").filter(|_| is_theirs));
        self.name = self.name.take().or(text("name").filter(|name| !name.trim().is_empty()));
    }
}

/// The problem with a provider's answer. The log has the reason.
pub fn refused(reason: impl Into<Message>) -> Problem {
    let message = "the sign-in service did not confirm your identity; try again";
    Problem::new(ProblemKind::Unauthorized, message).because(reason.into())
}

fn scheme(url: &str) -> Option<&str> {
    Some(url.split_once("://")?.0)
}

/// Scheme, and host with its port.
fn origin(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    (!host.contains('@')).then_some((scheme, host))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://id.test";

    fn claims() -> Map<String, Value> {
        let payload = json!({
            "iss": ISSUER, "aud": "lyceum", "sub": "s-1", "nonce": "n", "exp": 1100, "iat": 1000,
            "email": "ada@example.org", "email_verified": true, "name": "Ada",
        });
        payload.as_object().unwrap().clone()
    }

    fn read(payload: &Map<String, Value>) -> Result<IdTokenClaims> {
        let now = Timestamp::from_milliseconds(1_050_000);
        IdTokenClaims::read(payload, ISSUER, "lyceum", "n", now)
    }

    #[test]
    fn an_id_token_with_one_wrong_claim_is_refused() {
        let read_all = read(&claims()).unwrap();
        assert_eq!(read_all.subject, "s-1");
        assert_eq!(read_all.email.as_deref(), Some("ada@example.org"));
        let wrong = [
            ("iss", json!("https://id.test/")),
            ("aud", json!("other")),
            ("aud", json!(["lyceum", "other"])),
            ("aud", Value::Null),
            ("azp", json!("other")),
            ("nonce", json!("m")),
            ("nonce", Value::Null),
            ("exp", json!(989)),
            ("exp", Value::Null),
            ("iat", json!(1111)),
            ("nbf", json!(1111)),
            ("sub", json!("")),
        ];
        for (name, value) in wrong {
            let mut payload = claims();
            payload.insert(name.to_owned(), value.clone());
            assert!(read(&payload).is_err(), "{name} {value}");
        }
        let mut payload = claims();
        payload.insert("email_verified".to_owned(), json!("true"));
        assert_eq!(read(&payload).unwrap().email, None, "nobody vouches for the address");
        let mut claims = read(&payload).unwrap();
        let userinfo = |sub: &str| {
            let claims = json!({ "sub": sub, "email": "ada@example.org", "email_verified": true });
            claims.as_object().unwrap().clone()
        };
        assert!(claims.complete(&userinfo("s-2")).is_err(), "of somebody else");
        claims.complete(&userinfo("s-1")).unwrap();
        assert_eq!(claims.email.as_deref(), Some("ada@example.org"));
        payload.insert("aud".to_owned(), json!(["lyceum", "other"]));
        payload.insert("azp".to_owned(), json!("lyceum"));
        assert!(read(&payload).is_ok());
    }

    #[test]
    fn a_provider_with_endpoints_on_unknown_hosts_is_refused() {
        let document = |token: &str| {
            json!({
                "issuer": ISSUER, "authorization_endpoint": "https://login.test/authorize",
                "token_endpoint": token, "jwks_uri": "https://id.test/keys",
            })
        };
        let read = |token: &str, hosts: &[String]| Provider::read(&document(token), ISSUER, hosts);
        assert!(read("https://id.test/token", &[]).is_ok());
        let more = ["api.test".to_owned()];
        assert!(read("https://api.test/token", &more).is_ok());
        let elsewhere = [
            "https://api.test/token",
            "http://id.test/token",
            "https://id.test@evil.test/token",
            "https://id.test:8443/token",
            "https://id.test.evil.test/token",
            "file:///etc/passwd",
            "",
        ];
        for token in elsewhere {
            assert!(read(token, &[]).is_err(), "{token}");
        }
        assert!(Provider::read(&document(ISSUER), "https://other.test", &[]).is_err());
    }

    #[test]
    fn the_challenge_agrees_with_the_example_of_rfc_7636() {
        let attempt = SignInAttempt::of_secret("x");
        assert_eq!(attempt.verifier().len(), 43);
        assert_eq!(attempt.challenge(), secret::text(&secret::hash(&attempt.verifier())));
        assert!(attempt.is_state(&attempt.state()) && !attempt.is_state(&attempt.nonce()));
        assert!(!SignInAttempt::begin().is_state(&SignInAttempt::begin().state()));
    }
}
