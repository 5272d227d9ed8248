//! The file system, as the kernel asks for it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::sync::watch;

use super::image::{Image, Number};
use super::trouble::{Act, Fate};
use super::{Counts, Syncs, Trouble};

/// How long the kernel may trust what it was told. Nobody else changes the files.
const TTL: Duration = Duration::from_hours(1);

/// What the file system and its owner share.
pub(super) struct Shared {
    state: Mutex<State>,
    released: Condvar,
    syncs: Syncs,
    power_lost: watch::Sender<bool>,
    failed: watch::Sender<bool>,
}

struct State {
    image: Image,
    trouble: Trouble,
    counts: Counts,
    power: Power,
    random: StdRng,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Power {
    On,
    /// Whoever asks waits.
    Lost,
    /// Whoever asks is refused.
    Released,
}

impl Shared {
    pub(super) fn new(image: Image, syncs: Syncs, seed: u64) -> Self {
        let state = State {
            image,
            trouble: Trouble::None,
            counts: Counts::default(),
            power: Power::On,
            random: StdRng::seed_from_u64(seed),
        };
        Self {
            state: Mutex::new(state),
            released: Condvar::new(),
            syncs,
            power_lost: watch::Sender::new(false),
            failed: watch::Sender::new(false),
        }
    }

    pub(super) fn ask(&self, trouble: Trouble) {
        let mut state = self.state.lock().unwrap();
        state.trouble = trouble;
        state.counts = Counts::default();
        self.failed.send_replace(false);
    }

    pub(super) async fn failed(&self) {
        let mut failed = self.failed.subscribe();
        // The sender is here.
        let _ = failed.wait_for(|failed| *failed).await;
    }

    pub(super) fn is_on(&self) -> bool {
        self.state.lock().unwrap().power == Power::On
    }

    pub(super) fn counts(&self) -> Counts {
        self.state.lock().unwrap().counts
    }

    pub(super) async fn power_lost(&self) {
        let mut lost = self.power_lost.subscribe();
        // The sender is here.
        let _ = lost.wait_for(|lost| *lost).await;
    }

    pub(super) fn lose_power(&self) {
        let mut state = self.state.lock().unwrap();
        if state.power == Power::On {
            state.power = Power::Lost;
            self.power_lost.send_replace(true);
        }
    }

    pub(super) fn release(&self) {
        self.state.lock().unwrap().power = Power::Released;
        self.released.notify_all();
    }

    pub(super) fn take_image(&self) -> Image {
        std::mem::replace(&mut self.state.lock().unwrap().image, Image::empty())
    }

    pub(super) fn write_to(&self, folder: &Path) -> io::Result<()> {
        self.state.lock().unwrap().image.write_to(folder)
    }

    /// The files, while there is power.
    fn look(&self) -> Result<MutexGuard<'_, State>, Errno> {
        let state = self.state.lock().unwrap();
        let state = self.released.wait_while(state, |state| state.power == Power::Lost).unwrap();
        if state.power == Power::On { Ok(state) } else { Err(Errno::EIO) }
    }

    /// The files, for an act that comes about.
    fn act(&self, act: Act) -> Result<MutexGuard<'_, State>, Errno> {
        let mut state = self.look()?;
        let State { trouble, counts, .. } = &mut *state;
        match trouble.fate(act, counts) {
            Fate::Done => Ok(state),
            Fate::Fails(failure) => {
                self.failed.send_replace(true);
                Err(failure.into())
            }
            Fate::PowerLost => {
                drop(state);
                self.lose_power();
                self.look()
            }
        }
    }

    fn attributes(&self, number: Number) -> Result<FileAttr, Errno> {
        let state = self.look()?;
        if number == INodeNo::ROOT.0 {
            return Ok(attributes(number, FileType::Directory, 0o700, 0));
        }
        let file = state.image.file(number).ok_or(Errno::ENOENT)?;
        let length = file.contents.live().len() as u64;
        Ok(attributes(number, FileType::RegularFile, file.mode, length))
    }

    fn lookup(&self, name: &OsStr) -> Result<FileAttr, Errno> {
        let number = self.look()?.image.find(name).ok_or(Errno::ENOENT)?;
        self.attributes(number)
    }

    fn create(&self, name: &OsStr, mode: u32) -> Result<FileAttr, Errno> {
        let number = self.act(Act::Change)?.image.create(name, permissions(mode));
        self.attributes(number)
    }

    fn set(&self, number: Number, mode: Option<u32>, size: Option<u64>) -> Result<FileAttr, Errno> {
        let before = self.attributes(number)?.size;
        if let Some(size) = size {
            let act = if size < before { Act::Free } else { Act::Change };
            let mut state = self.act(act)?;
            let file = state.image.file_mut(number).ok_or(Errno::EISDIR)?;
            file.contents.resize(usize::try_from(size).map_err(|_| Errno::EFBIG)?);
        }
        if let Some(mode) = mode {
            // Who may read a file is not put to the test here.
            self.look()?.image.file_mut(number).ok_or(Errno::EISDIR)?.mode = permissions(mode);
        }
        self.attributes(number)
    }

    fn write(&self, number: Number, offset: u64, bytes: &[u8], flags: WriteFlags) -> Result<u32, Errno> {
        // What the kernel writes on its own comes from shared memory, and nobody is told whether it fails.
        let of_kernel = flags.contains(WriteFlags::FUSE_WRITE_CACHE);
        let mut state = if of_kernel { self.look()? } else { self.act(Act::Change)? };
        let file = state.image.file_mut(number).ok_or(Errno::ENOENT)?;
        file.contents.write(usize::try_from(offset).map_err(|_| Errno::EFBIG)?, bytes);
        u32::try_from(bytes.len()).map_err(|_| Errno::EFBIG)
    }

    fn sync(&self, number: Number) -> Result<(), Errno> {
        let acted = self.act(Act::Sync);
        if self.syncs == Syncs::Ignored {
            return acted.map(drop);
        }
        match acted {
            Ok(mut state) => {
                state.image.file_mut(number).ok_or(Errno::ENOENT)?.contents.sync();
                Ok(())
            }
            Err(error) => {
                let mut state = self.look()?;
                let State { image, random, .. } = &mut *state;
                image.file_mut(number).ok_or(Errno::ENOENT)?.contents.fail_to_sync(random);
                Err(error)
            }
        }
    }

    fn sync_names(&self) -> Result<(), Errno> {
        let mut state = self.act(Act::Sync)?;
        if self.syncs == Syncs::Kept {
            state.image.sync_names();
        }
        Ok(())
    }

    fn read(&self, number: Number, offset: u64, size: u32, reply: ReplyData) {
        let state = match self.look() {
            Ok(state) => state,
            Err(error) => return reply.error(error),
        };
        let Some(file) = state.image.file(number) else { return reply.error(Errno::ENOENT) };
        let bytes = file.contents.live();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(size as usize).min(bytes.len());
        reply.data(&bytes[start..end]);
    }
}

fn attributes(number: Number, kind: FileType, perm: u16, size: u64) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

fn permissions(mode: u32) -> u16 {
    u16::try_from(mode & 0o7777).unwrap_or(0)
}

/// The file system.
pub(super) struct Mounted(pub(super) Arc<Shared>);

fn done(result: Result<(), Errno>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for Mounted {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.0.lookup(name) {
            Ok(attr) => reply.entry(&TTL, &attr, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.0.attributes(ino.0) {
            Ok(attr) => reply.attr(&TTL, &attr),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.0.set(ino.0, mode, size) {
            Ok(attr) => reply.attr(&TTL, &attr),
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(self.0.act(Act::Free).map(|mut state| state.image.remove(name)), reply);
    }

    fn rename(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        _: INodeNo,
        newname: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        done(self.0.act(Act::Change).map(|mut state| state.image.rename(name, newname)), reply);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.0.read(ino.0, offset, size, reply);
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        flags: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.0.write(ino.0, offset, data, flags) {
            Ok(written) => reply.written(written),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        done(self.0.sync(ino.0), reply);
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        done(self.0.sync_names(), reply);
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let state = match self.0.look() {
            Ok(state) => state,
            Err(error) => return reply.error(error),
        };
        let names = state.image.names().iter().map(|(name, number)| (*number, name.as_os_str()));
        for (next, (number, name)) in (1..).zip(names).skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            if reply.add(INodeNo(number), next, FileType::RegularFile, name) {
                break;
            }
        }
        reply.ok();
    }

    fn create(&self, _: &Request, _: INodeNo, name: &OsStr, mode: u32, _: u32, _: i32, reply: ReplyCreate) {
        match self.0.create(name, mode) {
            Ok(attr) => {
                reply.created(&TTL, &attr, Generation(0), FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
            }
            Err(error) => reply.error(error),
        }
    }
}
