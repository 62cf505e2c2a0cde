//! Time for which the programs of this folder work, and their profile by the crate pprof.
use std::time::{Duration, Instant};

pub struct Busy {
    until: Instant,
    #[cfg(feature = "pprof")]
    guard: Option<pprof::ProfilerGuard<'static>>,
}

impl Busy {
    /// The time in seconds is the first argument; without one it is two. CPUPROFILE names a file for the crate's profile.
    pub fn begin() -> Busy {
        let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(2.0);
        Busy {
            until: Instant::now() + Duration::from_secs_f64(seconds),
            #[cfg(feature = "pprof")]
            guard: std::env::var_os("CPUPROFILE").map(|_| pprof::ProfilerGuardBuilder::default().frequency(500).build().expect("a profiler")),
        }
    }

    pub fn more(&self) -> bool {
        Instant::now() < self.until
    }

    pub fn end(self) {
        #[cfg(feature = "pprof")]
        if let (Some(guard), Some(name)) = (self.guard, std::env::var_os("CPUPROFILE")) {
            use pprof::protos::Message;
            let profile = guard.report().build().and_then(|r| r.pprof()).expect("a profile");
            let mut bytes = Vec::new();
            profile.encode(&mut bytes).expect("bytes");
            std::fs::write(name, bytes).expect("a file");
        }
    }
}
