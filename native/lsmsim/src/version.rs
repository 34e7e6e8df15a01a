//! The version of RocksDB that a run follows. Some rules changed between versions.

use serde::Deserialize;

/// Major and minor number of a version. Versions before 7.8 follow the rules of 7.8.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
pub struct Version(pub u32, pub u32);

impl Default for Version {
    fn default() -> Self {
        Self(7, 8)
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut numbers = text.split('.').map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(Self(major, minor)),
            _ => Err(format!("version: {text} is not allowed; use numbers such as 11.8.1")),
        }
    }
}

impl Version {
    /// Whether levels that the data do not need are drained: `lowest_unnecessary_level_` in
    /// `CalculateBaseBytes`, db/version_set.cc.
    pub fn drains_levels(self) -> bool {
        self >= Self(8, 3)
    }

    /// Whether a universal compaction against size amplification takes the oldest runs that follow
    /// each other, and may leave out new ones: `PickCompactionToReduceSizeAmp` and
    /// `MightExcludeNewL0sToReduceWriteStop` in db/compaction/compaction_picker_universal.cc.
    pub fn may_leave_out_new_runs(self) -> bool {
        self >= Self(8, 7)
    }

    /// Whether several compactions run at once if the debt is large compared with the bottommost
    /// files: `GetPendingCompactionBytesForCompactionSpeedup` in db/column_family.cc.
    pub fn compares_debt(self) -> bool {
        self >= Self(8, 11)
    }

    /// Whether a debt below two level bases is never large, in the same function.
    pub fn has_least_debt(self) -> bool {
        self >= Self(9, 8)
    }

    /// Whether files of level 0 are merged with each other while they are small compared with the
    /// base level: `PickSizeBasedIntraL0Compaction` in db/compaction/compaction_picker_level.cc.
    pub fn keeps_small_level0(self) -> bool {
        self >= Self(9, 0)
    }

    /// Whether files that are added from the start level may make a compaction twice as large as
    /// the limit: `SetupOtherInputs` in db/compaction/compaction_picker.cc.
    pub fn doubles_limit(self) -> bool {
        self >= Self(9, 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let of = |text: &str| Version::try_from(text.to_owned());
        assert_eq!(of("11.8.1"), Ok(Version(11, 8)));
        assert!(of("10.10.1").unwrap() > of("9.11.2").unwrap());
        assert!(of("11").is_err() && of("new").is_err());
    }
}
