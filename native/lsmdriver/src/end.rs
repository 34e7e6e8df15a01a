//! The end of the process. It does not wait, because threads of RocksDB may still run.

use std::panic;

use libc::c_int;

const PANICKED: c_int = 101;
const BY_SIGNAL: c_int = 128;

/// End the process. No destructor runs, and nothing waits for another thread.
pub fn end(code: c_int) -> ! {
    // SAFETY: any thread may end the process, and the call does not return.
    unsafe { libc::_exit(code) }
}

/// Let SIGTERM, SIGINT and a panic of any thread end the process.
pub fn prepare() {
    // SAFETY: `sigemptyset` fills in the set. `by_signal` only calls `_exit`, as a handler may.
    unsafe {
        let mut both = std::mem::zeroed();
        libc::sigemptyset(&mut both);
        for signal in [libc::SIGTERM, libc::SIGINT] {
            libc::signal(signal, by_signal as *const () as libc::sighandler_t);
            libc::sigaddset(&mut both, signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &both, std::ptr::null_mut());
    }
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        usual(panicked);
        end(PANICKED);
    }));
}

extern "C" fn by_signal(signal: c_int) {
    end(BY_SIGNAL + signal)
}
