using System.Xml.Linq;

namespace Keystride.Agent
{
    /// <summary>An answer of the core API.</summary>
    internal sealed class Reply
    {
        internal Reply(int status, XElement body, string problem)
        {
            Status = status;
            Body = body;
            Problem = problem;
        }

        /// <summary>HTTP status; 0 without an answer.</summary>
        internal int Status { get; }

        /// <summary>The JSON object; null if the body is not one.</summary>
        internal XElement Body { get; }

        /// <summary>Why there is no answer; empty otherwise.</summary>
        internal string Problem { get; }

        internal string Reason
        {
            get { return Json.Text(Body, "reason"); }
        }

        internal string Says
        {
            get { var message = Json.Text(Body, "message"); return "status " + Status + (message == null ? "" : ", " + message); }
        }

        internal static Reply None(string problem)
        {
            return new Reply(0, null, problem);
        }
    }

    /// <summary>The result of an answer. Fails closed: only a clean pass by typing is "auth" (interface, Verify rules 2 to 5).</summary>
    internal static class Verdict
    {
        private const string Machine = "a machine probably typed this";

        internal static VerifyResult Of(Reply reply)
        {
            if (reply.Status != 200) return FailureOf(reply);
            var body = reply.Body;
            if (Json.IsBoolean(body, "enrollmentRequired", true)) return VerifyResult.Failed(205, "the profile of the user is not complete: enroll");
            var given = Json.Field(body, "authentication");
            var said = Json.Text(given, "recommendedAction");
            if (!Json.IsBoolean(body, "success", true) || (said != "auth" && said != "challenge" && said != "block")) return NotUnderstood(reply);
            var bot = reply.Reason == "detection-bot";
            var clean = Json.IsBoolean(given, "authenticated", true)
                && Json.Text(given, "authMethod") == "biometric"
                && Json.Text(body, "action") == "verified"
                && Json.IsBoolean(body, "enrollmentRequired", false)
                && reply.Reason == "";
            var refused = Json.Text(body, "action") == "refused";
            var asked = said == "auth" && !clean ? "challenge" : said;
            var scores = refused ? null : new Authentication(
                Json.Text(given, "id"),
                Json.Text(given, "authMethod"),
                Json.Number(given, "confidence") ?? 0,
                Json.Number(given, "confidenceBiometrics") ?? 0,
                Json.Number(given, "confidenceContext") ?? 0);
            var message = bot ? Machine
                : refused ? "no attempt was open: " + Json.Text(body, "refusedBecause")
                : reply.Reason == "fraud-detected" ? "this typing was recorded before"
                : asked == said ? "the service recommends " + asked
                : "not a clean pass by typing";
            return new VerifyResult(bot ? 204 : 0, bot || refused ? "block" : asked, scores, null, message);
        }

        internal static VerifyResult OfEnrollment(Reply reply)
        {
            if (reply.Status != 200) return FailureOf(reply);
            int? done = Json.Count(reply.Body, "nPatternsRef"), target = Json.Count(reply.Body, "targetRefPatterns");
            if (!Json.IsBoolean(reply.Body, "success", true) || done == null || target == null) return NotUnderstood(reply);
            return new VerifyResult(0, null, null, new Enrollment(done.Value, target.Value), "enrolled: pattern " + done + " of " + target);
        }

        /// <summary>The code of an answer that is no success.</summary>
        internal static VerifyResult FailureOf(Reply reply)
        {
            var status = reply.Status;
            if (status == 0) return VerifyResult.Failed(201, reply.Problem);
            if (status == 401) return VerifyResult.Failed(202, "the API key is not valid");
            // These come from the service or from a proxy in front of it, and mean that nothing was decided.
            if (status >= 500) return VerifyResult.Failed(201, "the service cannot answer: " + reply.Says);
            if (!Json.IsBoolean(reply.Body, "success", false)) return NotUnderstood(reply);
            if (status == 403) return VerifyResult.Failed(202, "the API key may not do this: " + reply.Says);
            if (status == 404 && reply.Reason == "user-not-found") return VerifyResult.Failed(205, reply.Says);
            if (status != 413 && status != 422) return NotUnderstood(reply);
            if (reply.Reason == "detection-bot") return new VerifyResult(204, "block", null, null, Machine);
            return VerifyResult.Failed(203, reply.Says);
        }

        internal static VerifyResult NotUnderstood(Reply reply)
        {
            return VerifyResult.Failed(206, "the answer was not understood: " + (reply.Body == null ? "no JSON object, " : "") + reply.Says);
        }
    }
}
