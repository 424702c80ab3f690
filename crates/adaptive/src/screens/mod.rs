//! The data of the console's screens about students and of the student's own home: one query function for each page.

pub mod chosen_class;
pub mod home;
pub mod my_classes;
pub mod student;
pub mod students;
pub mod teaching;
pub mod today;
