//! The macro for lists of words, and the closed lists of Caliper 1.2.

/// A list of words without quotes. `A.B` is the text `A#B`, as in the roles of LIS.
macro_rules! words {
    ($($word:ident $(. $part:ident)? $(- $last:ident)?)+) => {
        &[$(concat!(stringify!($word) $(, "#", stringify!($part))? $(, "-", stringify!($last))?)),+]
    };
}
pub(crate) use words;

/// The metrics of an aggregate measure.
pub(crate) const METRICS: &[&str] = words![
    AssessmentsPassed AssessmentsSubmitted MinutesOnTask SkillsMastered StandardsMastered
    UnitsCompleted UnitsPassed WordsRead
];

/// The systems that an identifier may come from.
pub(crate) const IDENTIFIERS: &[&str] = words![
    AccountUserName CaseItemUri EmailAddress LisSourcedId LtiContextId LtiDeploymentId LtiPlatformId LtiToolId
    LtiUserId OneRosterSourcedId Other SisSourcedId SystemId
];

/// The roles of the LIS vocabulary.
pub(crate) const ROLES: &[&str] = words![
    Administrator Administrator.Administrator Administrator.Developer
    Administrator.ExternalDeveloper Administrator.ExternalSupport
    Administrator.ExternalSystemAdministrator Administrator.Support
    Administrator.SystemAdministrator ContentDeveloper ContentDeveloper.ContentDeveloper
    ContentDeveloper.ContentExpert ContentDeveloper.ExternalContentExpert ContentDeveloper.Librarian
    Instructor Instructor.ExternalInstructor Instructor.Grader Instructor.GuestInstructor
    Instructor.Instructor Instructor.Lecturer Instructor.PrimaryInstructor
    Instructor.SecondaryInstructor Instructor.TeachingAssistant Instructor.TeachingAssistantGroup
    Instructor.TeachingAssistantOffering Instructor.TeachingAssistantSection
    Instructor.TeachingAssistantTemplate Learner Learner.ExternalLearner Learner.GuestLearner
    Learner.Learner Learner.NonCreditLearner Manager Manager.AreaManager Manager.CourseCoordinator
    Manager.ExternalObserver Manager.Manager Manager.Observer Member Member.Member Mentor
    Mentor.Advisor Mentor.Auditor Mentor.ExternalAdvisor Mentor.ExternalAuditor
    Mentor.ExternalLearningFacilitator Mentor.ExternalMentor Mentor.ExternalReviewer
    Mentor.ExternalTutor Mentor.LearningFacilitator Mentor.Mentor Mentor.Reviewer Mentor.Tutor
    Officer Officer.Chair Officer.Secretary Officer.Treasurer Officer.Vice-Chair
];
