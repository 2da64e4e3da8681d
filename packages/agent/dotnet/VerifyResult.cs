using System.Text.RegularExpressions;

namespace Keystride.Agent
{
    /// <summary>Result of <see cref="KeystrideAgent.VerifyAsync"/>.</summary>
    public sealed class VerifyResult
    {
        internal VerifyResult(int code, string recommendedAction, Authentication authentication, Enrollment enrollment, string message)
        {
            Code = code;
            RecommendedAction = recommendedAction;
            Authentication = authentication;
            Enrollment = enrollment;
            var line = Regex.Replace(message, @"[^\x20-\x7e]", " ");
            Message = line.Length <= 300 ? line : line.Substring(0, 300);
        }

        /// <summary>0 if the service has answered, which alone is no login. The README explains 201 to 210.</summary>
        public int Code { get; }

        /// <summary>
        /// "auth", "challenge" or "block". "auth" only after a clean pass by typing, with code 0: sign the person in. Null if no pattern
        /// was judged: after an enrollment, and with every code but 0 and 204.
        /// </summary>
        public string RecommendedAction { get; }

        /// <summary>The scores; null if the service scored nothing.</summary>
        public Authentication Authentication { get; }

        /// <summary>After the pattern was enrolled; null otherwise.</summary>
        public Enrollment Enrollment { get; }

        /// <summary>One line of ASCII for a log, at most 300 characters. It has no pattern and no key.</summary>
        public string Message { get; }

        internal static VerifyResult Failed(int code, string message)
        {
            return new VerifyResult(code, null, null, null, message);
        }
    }

    /// <summary>The scores of one attempt.</summary>
    public sealed class Authentication
    {
        internal Authentication(string id, string authMethod, double confidence, double confidenceBiometrics, double confidenceContext)
        {
            Id = id;
            AuthMethod = authMethod;
            Confidence = confidence;
            ConfidenceBiometrics = confidenceBiometrics;
            ConfidenceContext = confidenceContext;
        }

        /// <summary>Id of the attempt, as in the dashboard API.</summary>
        public string Id { get; }

        /// <summary>"biometric" or "security_code".</summary>
        public string AuthMethod { get; }

        /// <summary>0 to 1; 0 if the service sent none.</summary>
        public double Confidence { get; }

        /// <summary>0 to 1, of the typing alone.</summary>
        public double ConfidenceBiometrics { get; }

        /// <summary>0 to 1, of network, place, time and device.</summary>
        public double ConfidenceContext { get; }
    }

    /// <summary>The state of a profile after a pattern was enrolled.</summary>
    public sealed class Enrollment
    {
        internal Enrollment(int done, int target)
        {
            Done = done;
            Target = target;
        }

        /// <summary>Reference patterns held.</summary>
        public int Done { get; }

        /// <summary>Reference patterns required.</summary>
        public int Target { get; }
    }

    /// <summary>Options of one verify.</summary>
    public sealed class VerifyOptions
    {
        /// <summary>Creates an unknown user and enrolls the pattern while the profile is not complete.</summary>
        public bool Enroll { get; set; }

        /// <summary>The member of a shared account; null on an account of one person.</summary>
        public string MemberRef { get; set; }

        /// <summary>Address of the end user. A pattern's own ip is not sent, because a page could choose it.</summary>
        public string Ip { get; set; }
    }
}
