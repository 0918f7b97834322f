//! Writes objects into one pack file: thousands of loose objects would cost more to create and
//! delete than everything else.
//!
//! Nothing is compressed, and packs do not outlive the run. When reading, git only checks that the
//! checksums of pack and index agree, so the object ids stand in for a checksum of the data.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use flate2::Crc;

use crate::git::object::{Format, ObjectKind, Oid, stored, sum};
use crate::host::files;

/// Length of the header, written last, when the number of objects is known.
const HEADER: u64 = 12;

#[derive(Debug)]
pub(super) struct Pack {
    dir: PathBuf,
    file: BufWriter<File>,
    at: u64,
    /// Where each object begins, and the CRC of its entry.
    objects: HashMap<Oid, (u32, u32)>,
}

impl Pack {
    /// Starts a pack in the object directory `dir`.
    pub(super) fn begin(dir: &Path) -> io::Result<Self> {
        let dir = dir.join("pack");
        files::ensure_dir(&dir)?;
        let mut file = BufWriter::with_capacity(256 << 10, files::create_or_empty(&dir.join("new"))?);
        file.write_all(&[0; HEADER as usize])?;
        Ok(Self { dir, file, at: HEADER, objects: HashMap::new() })
    }

    pub(super) fn add(&mut self, oid: Oid, kind: ObjectKind, bytes: &[u8]) -> io::Result<()> {
        if self.objects.contains_key(&oid) {
            return Ok(());
        }
        // Larger offsets would need another format; nobody stores that much.
        let at = u32::try_from(self.at).ok().filter(|at| *at < 1 << 31);
        let at = at.ok_or(io::ErrorKind::FileTooLarge)?;
        let entry = [entry_header(kind, bytes.len() as u64), stored(bytes)].concat();
        self.file.write_all(&entry)?;
        self.at += entry.len() as u64;
        let mut crc = Crc::new();
        crc.update(&entry);
        self.objects.insert(oid, (at, crc.sum()));
        Ok(())
    }

    /// Completes the pack so that git finds it.
    pub(super) fn end(self, format: Format) -> io::Result<()> {
        let mut objects: Vec<(Oid, (u32, u32))> = self.objects.into_iter().collect();
        objects.sort_unstable_by(|(one, _), (two, _)| one.as_bytes().cmp(two.as_bytes()));
        let count = u32::try_from(objects.len()).unwrap_or(u32::MAX);
        let names: Vec<u8> = objects.iter().flat_map(|(oid, _)| oid.as_bytes().to_vec()).collect();
        let name = sum(format, &names);
        let mut file = self.file;
        file.write_all(&name)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let header = [b"PACK".as_slice(), &2_u32.to_be_bytes(), &count.to_be_bytes()].concat();
        file.write_all_at(&header, 0)?;
        let hex = crate::git::object::hex(&name);
        files::write_in_place(
            self.dir.join(format!("pack-{hex}.idx")),
            index(format, &objects, &names, &name),
        )?;
        std::fs::rename(self.dir.join("new"), self.dir.join(format!("pack-{hex}.pack")))
    }
}

/// Object kind and length: seven bits per byte, except in the first.
fn entry_header(kind: ObjectKind, length: u64) -> Vec<u8> {
    let kind = match kind {
        ObjectKind::Tree => 2,
        ObjectKind::Blob => 3,
    };
    let mut bytes = vec![kind << 4 | (length & 0xf) as u8];
    let mut rest = length >> 4;
    while rest > 0 {
        *bytes.last_mut().unwrap_or(&mut 0) |= 0x80;
        bytes.push((rest & 0x7f) as u8);
        rest >>= 7;
    }
    bytes
}

/// The pack index, version 2.
fn index(format: Format, objects: &[(Oid, (u32, u32))], names: &[u8], of: &[u8]) -> Vec<u8> {
    let mut bytes = [b"\xfftOc".as_slice(), &2_u32.to_be_bytes()].concat();
    let mut upto = [0_u32; 256];
    objects.iter().for_each(|(oid, _)| upto[usize::from(oid.as_bytes()[0])] += 1);
    let mut all = 0;
    for count in upto {
        all += count;
        bytes.extend(all.to_be_bytes());
    }
    bytes.extend(names);
    objects.iter().for_each(|(_, (_, crc))| bytes.extend(crc.to_be_bytes()));
    objects.iter().for_each(|(_, (at, _))| bytes.extend(at.to_be_bytes()));
    bytes.extend(of);
    let own = sum(format, &bytes);
    bytes.extend(own);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_told_in_as_many_bytes_as_it_needs() {
        assert_eq!(entry_header(ObjectKind::Blob, 0), [0x30]);
        assert_eq!(entry_header(ObjectKind::Blob, 15), [0x3f]);
        assert_eq!(entry_header(ObjectKind::Tree, 16), [0xa0, 1]);
        assert_eq!(entry_header(ObjectKind::Blob, 0x1234), [0xb4, 0xa3, 2]);
    }
}
