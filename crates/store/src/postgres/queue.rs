//! A queue of requests for several threads. A thread that finds it empty sleeps at once. A thread that waits at a channel
//! first spins and yields, which costs more than a short read if there are many threads.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A queue with a limited number of entries.
pub(super) struct Queue<T> {
    state: Mutex<QueueState<T>>,
    has_changed: Condvar,
    max_entries: usize,
}

struct QueueState<T> {
    entries: VecDeque<T>,
    is_closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(max_entries: usize) -> Self {
        let state = QueueState { entries: VecDeque::new(), is_closed: false };
        Self { state: Mutex::new(state), has_changed: Condvar::new(), max_entries }
    }

    /// Adds an entry at the end. Errors: gives the entry back if the queue is full or closed.
    pub(super) fn put(&self, entry: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.is_closed || state.entries.len() >= self.max_entries {
            return Err(entry);
        }
        state.entries.push_back(entry);
        drop(state);
        self.has_changed.notify_one();
        Ok(())
    }

    /// Waits for an entry and takes the first one. Returns none once the queue is closed and empty.
    pub(super) fn take(&self) -> Option<T> {
        let must_wait = |state: &mut QueueState<T>| state.entries.is_empty() && !state.is_closed;
        let state = self.has_changed.wait_while(self.lock(), must_wait);
        state.unwrap_or_else(PoisonError::into_inner).entries.pop_front()
    }

    /// Takes all entries without waiting.
    pub(super) fn take_all(&self) -> VecDeque<T> {
        std::mem::take(&mut self.lock().entries)
    }

    /// The number of entries that wait.
    pub(super) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Refuses further entries. Threads take those that are left, then `take` returns none.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.has_changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_or_closed_queue_gives_entries_back() {
        let queue = Queue::new(2);
        assert_eq!([queue.put('a'), queue.put('b'), queue.put('c')], [Ok(()), Ok(()), Err('c')]);
        assert_eq!(queue.take(), Some('a'));
        queue.close();
        assert_eq!(queue.put('d'), Err('d'));
        assert_eq!([queue.take(), queue.take()], [Some('b'), None]);
    }

    #[test]
    fn several_threads_take_each_entry_once() {
        let queue = Queue::new(1000);
        let taken = std::thread::scope(|scope| {
            let take_until_closed = || std::iter::from_fn(|| queue.take()).collect::<Vec<u32>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take_until_closed)).collect();
            for entry in 0..1000 {
                assert!(queue.put(entry).is_ok());
            }
            queue.close();
            let mut taken: Vec<u32> =
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            taken.sort_unstable();
            taken
        });
        assert_eq!(taken, (0..1000).collect::<Vec<u32>>());
    }
}
