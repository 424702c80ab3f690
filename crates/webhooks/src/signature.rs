//! Signatures of messages, as Standard Webhooks 1.0 defines them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::time::Timestamp;
use ring::hmac;

/// The prefix of a secret that is base64.
const PREFIX: &str = "whsec_";

/// The header `webhook-signature` for a message that is sent at `now`: version 1 of the scheme, an HMAC with SHA-256
/// over the id, the time in seconds and the body, with dots between them.
pub fn sign(secret: &str, message: &str, now: Timestamp, body: &str) -> String {
    let decoded = secret.strip_prefix(PREFIX).and_then(|text| BASE64_STANDARD.decode(text).ok());
    let key = decoded.unwrap_or_else(|| secret.as_bytes().to_vec());
    let mut signing = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &key));
    for part in [message, ".", &now.seconds().to_string(), ".", body] {
        signing.update(part.as_bytes());
    }
    format!("v1,{}", BASE64_STANDARD.encode(signing.sign().as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's documentation, which its libraries use as a test.
    #[test]
    fn the_published_example_has_its_signature() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let now = Timestamp::from_milliseconds(1_614_265_330_000);
        let signature =
            sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", now, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
