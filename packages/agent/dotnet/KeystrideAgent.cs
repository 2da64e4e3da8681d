using System;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using System.Xml.Linq;

namespace Keystride.Agent
{
    /// <summary>The agent: for servers that want a verdict and a number. One instance serves all requests of a process.</summary>
    public sealed class KeystrideAgent : IDisposable
    {
        private readonly string url;
        private readonly string apikey;
        private readonly TimeSpan timeout;
        private readonly HttpClient http;

        /// <summary>Creates an agent. Makes no call and throws nothing: a wrong address is code 207 of each verify.</summary>
        /// <param name="url">Address of the service, such as https://login.example.org; the core API is below it at /core.</param>
        /// <param name="apikey">A key of the scope core.</param>
        /// <param name="timeout">Longest time of a whole verify, up to 2147483647 ms; 10 seconds by default.</param>
        public KeystrideAgent(string url, string apikey, TimeSpan? timeout = null)
        {
            this.url = url;
            this.apikey = apikey;
            var ms = (timeout ?? TimeSpan.Zero).TotalMilliseconds;
            this.timeout = ms >= 1 && ms <= int.MaxValue ? timeout.Value : TimeSpan.FromSeconds(10);
            // A redirect would carry the key to another address.
            http = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false }) { Timeout = Timeout.InfiniteTimeSpan };
        }

        /// <summary>
        /// Verifies a typing pattern. Never throws and never repeats a call. Sign the person in only if
        /// <see cref="VerifyResult.RecommendedAction"/> is "auth".
        /// </summary>
        /// <param name="userRef">Your reference of the user.</param>
        /// <param name="pattern">The pattern as JSON, as the form of the page has sent it.</param>
        /// <param name="options">Enrollment, member and address; none by default.</param>
        /// <param name="cancellation">Ends the call early: code 201.</param>
        public async Task<VerifyResult> VerifyAsync(
            string userRef, string pattern, VerifyOptions options = null, CancellationToken cancellation = default(CancellationToken))
        {
            try
            {
                var given = options ?? new VerifyOptions();
                var fields = Checks.PatternFields(pattern);
                var refused = Checked(userRef, fields, given);
                if (refused != null) return refused;
                if (given.Ip != null) fields.Add(new XElement("ip", new XAttribute("type", "string"), Checks.BareAddress(given.Ip)));
                using (var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellation))
                {
                    ending.CancelAfter(timeout);
                    return await JudgedAsync(userRef, given, Json.Write(fields), ending.Token).ConfigureAwait(false);
                }
            }
            catch (Exception)
            {
                return VerifyResult.Failed(206, "the agent failed");
            }
        }

        /// <summary>Closes the connections to the service.</summary>
        public void Dispose()
        {
            http.Dispose();
        }

        /// <summary>The checks that need no server, in the order of precedence; null if all pass.</summary>
        private VerifyResult Checked(string userRef, XElement fields, VerifyOptions options)
        {
            return Failed(207, Checks.UrlProblem(url))
                ?? Failed(202, Checks.KeyProblem(apikey))
                ?? Failed(210, Checks.UserRefProblem(userRef))
                ?? Failed(210, options.MemberRef == null ? null : Checks.UserRefProblem(options.MemberRef))
                ?? Failed(208, Checks.TagProblem(fields))
                ?? Failed(203, Checks.PatternProblem(fields));
        }

        private static VerifyResult Failed(int code, string problem)
        {
            return problem == null ? null : VerifyResult.Failed(code, problem);
        }

        /// <summary>Bootstrap, creation, then enrollment or verify.</summary>
        private async Task<VerifyResult> JudgedAsync(string userRef, VerifyOptions options, string pattern, CancellationToken ending)
        {
            var user = url.TrimEnd('/') + "/core/users/" + Uri.EscapeDataString(userRef);
            var query = options.MemberRef == null ? "" : "?member_ref=" + Uri.EscapeDataString(options.MemberRef);
            var begun = await CallAsync(HttpMethod.Get, user + query, null, null, ending).ConfigureAwait(false);
            var isUnknown = begun.Status == 404 && begun.Reason == "user-not-found";
            if (begun.Status != 200 && !isUnknown) return Verdict.FailureOf(begun);
            var session = Json.Text(begun.Body, "sessionId");
            if (Checks.KeyProblem(session) != null) return Verdict.NotUnderstood(begun);
            if (Json.TypeOf(Json.Field(begun.Body, "memberRef")) == "null") return VerifyResult.Failed(206, "the account is shared: memberRef is needed");
            if (isUnknown)
            {
                if (!options.Enroll) return VerifyResult.Failed(205, "the user does not exist, and enrollment was not asked for");
                var created = await CallAsync(HttpMethod.Post, user + query, null, "{}", ending).ConfigureAwait(false);
                if (created.Status != 200 && created.Status != 201) return Verdict.FailureOf(created);
            }
            var status = isUnknown ? "not-ready" : Json.Text(begun.Body, "biometricStatus");
            var isReset = options.Enroll && Json.Text(begun.Body, "pendingAction") == "RESET_BIOMETRIC_PROFILE";
            if ((status == "ok" || status == "full") && !isReset)
                return Verdict.Of(await CallAsync(HttpMethod.Post, user + "/verify" + query, session, pattern, ending).ConfigureAwait(false));
            if (status == null) return Verdict.NotUnderstood(begun);
            if (!options.Enroll) return VerifyResult.Failed(205, "the profile of the user is not complete, and enrollment was not asked for");
            return Verdict.OfEnrollment(await CallAsync(HttpMethod.Post, user + "/typing-patterns" + query, session, pattern, ending).ConfigureAwait(false));
        }

        /// <summary>One call. Without an answer the status is 0.</summary>
        private async Task<Reply> CallAsync(HttpMethod method, string address, string session, string body, CancellationToken ending)
        {
            try
            {
                using (var request = new HttpRequestMessage(method, address))
                {
                    request.Headers.TryAddWithoutValidation("apikey", apikey);
                    request.Headers.TryAddWithoutValidation("accept", "application/json");
                    if (session != null) request.Headers.TryAddWithoutValidation("x-service-session", session);
                    request.Headers.ExpectContinue = false;
                    if (body != null) request.Content = new StringContent(body, Encoding.UTF8, "application/json");
                    var sent = http.SendAsync(request, HttpCompletionOption.ResponseContentRead, ending);
                    // Older runtimes do not cancel a connection that is silent.
                    if (await Task.WhenAny(sent, Task.Delay(Timeout.Infinite, ending)).ConfigureAwait(false) != sent) return Reply.None("no answer in time");
                    using (var answer = await sent.ConfigureAwait(false))
                    {
                        var text = answer.Content == null ? "" : Encoding.UTF8.GetString(await answer.Content.ReadAsByteArrayAsync().ConfigureAwait(false));
                        return new Reply((int)answer.StatusCode, Json.ObjectOf(text), "");
                    }
                }
            }
            catch (Exception)
            {
                return Reply.None(ending.IsCancellationRequested ? "no answer in time" : "no connection to the service");
            }
        }
    }
}
