//! The rate of requests of one caller. Servers that share a database give equal parts of it.

use std::num::NonZeroU32;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use governor::clock::QuantaInstant;
use governor::{DefaultDirectRateLimiter, NotUntil, Quota};

/// A limit of requests a second, and of requests at once.
pub(super) struct RequestRate {
    per_second: NonZeroU32,
    burst: u32,
    part: RwLock<ServerPart>,
}

/// The part of one of several servers.
struct ServerPart {
    servers: u32,
    limiter: DefaultDirectRateLimiter,
}

impl RequestRate {
    /// `None` for 0, which means no limit.
    pub(super) fn new(per_second: u32, burst: u32) -> Option<Self> {
        let per_second = NonZeroU32::new(per_second)?;
        let part = RwLock::new(ServerPart::new(per_second, burst, 1));
        Some(Self { per_second, burst, part })
    }

    /// Counts a request if so many servers share the limit. Errors: it is beyond this server's part.
    pub(super) fn check(&self, servers: u32) -> Result<(), NotUntil<QuantaInstant>> {
        let part = self.part.read().unwrap_or_else(PoisonError::into_inner);
        if part.servers == servers {
            return part.limiter.check();
        }
        drop(part);
        let mut part = self.part.write().unwrap_or_else(PoisonError::into_inner);
        if part.servers != servers {
            *part = ServerPart::new(self.per_second, self.burst, servers);
        }
        part.limiter.check()
    }
}

impl ServerPart {
    fn new(per_second: NonZeroU32, burst: u32, servers: u32) -> Self {
        let pause = Duration::from_secs(servers.into()) / per_second.get();
        let quota = Quota::with_period(pause).expect("a second has parts of some nanoseconds");
        let burst = NonZeroU32::new(burst / servers).unwrap_or(NonZeroU32::MIN);
        let limiter = DefaultDirectRateLimiter::direct(quota.allow_burst(burst));
        Self { servers, limiter }
    }
}
