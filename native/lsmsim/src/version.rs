//! Which RocksDB a run follows: its rules changed from version to version.

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
    /// Levels that the data do not need are drained: `lowest_unnecessary_level_` in
    /// `CalculateBaseBytes`, db/version_set.cc.
    pub fn drains_levels(self) -> bool {
        self >= Self(8, 3)
    }

    /// A universal compaction against size amplification takes the oldest runs in a row and may
    /// leave out new ones: `PickCompactionToReduceSizeAmp` and
    /// `MightExcludeNewL0sToReduceWriteStop` in db/compaction/compaction_picker_universal.cc.
    pub fn may_leave_out_new_runs(self) -> bool {
        self >= Self(8, 7)
    }

    /// Debt that is large beside the bottommost files makes compactions run side by side:
    /// `GetPendingCompactionBytesForCompactionSpeedup` in db/column_family.cc.
    pub fn compares_debt(self) -> bool {
        self >= Self(8, 11)
    }

    /// Debt of less than two level bases is never large, in the same function.
    pub fn has_least_debt(self) -> bool {
        self >= Self(9, 8)
    }

    /// Files of level 0 are merged with each other while they are small beside the base level:
    /// `PickSizeBasedIntraL0Compaction` in db/compaction/compaction_picker_level.cc.
    pub fn keeps_small_level0(self) -> bool {
        self >= Self(9, 0)
    }

    /// More files from above may make a compaction twice as large as the limit:
    /// `SetupOtherInputs` in db/compaction/compaction_picker.cc.
    pub fn doubles_limit(self) -> bool {
        self >= Self(9, 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_and_not_texts() {
        let of = |text: &str| Version::try_from(text.to_owned());
        assert_eq!(of("11.8.1"), Ok(Version(11, 8)));
        assert!(of("10.10.1").unwrap() > of("9.11.2").unwrap());
        assert!(of("11").is_err() && of("new").is_err());
    }
}
