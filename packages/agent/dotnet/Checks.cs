using System;
using System.Linq;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Keystride.Agent
{
    /// <summary>The checks that need no server, with the bounds of the service. Each gives the reason for its code, or null.</summary>
    internal static class Checks
    {
        private const int KeydownsMin = 15;
        private const int TagsMax = 32;
        private const int TagNameMax = 64;
        private const int TagValueMax = 256;

        /// <summary>Only these fields of a pattern are sent: a page cannot name a member or an address, or try a security code.</summary>
        private static readonly string[] Fields = { "agent", "version", "sId", "tId", "tags", "kevt", "k", "m", "d" };

        /// <summary>Checks for code 207, more strictly than a parser of URLs, which repairs some.</summary>
        internal static string UrlProblem(string url)
        {
            Uri parsed;
            var isText = url != null && Regex.IsMatch(url, @"\A[Hh][Tt][Tt][Pp][Ss]?://[^\s\\/@?#][^\s\\@?#]*\z");
            if (isText && Uri.TryCreate(url, UriKind.Absolute, out parsed)) return null;
            return "the URL of the service must be http(s)://host, without user, query and fragment";
        }

        /// <summary>Checks for code 202.</summary>
        internal static string KeyProblem(string apikey)
        {
            return apikey != null && Regex.IsMatch(apikey, @"\A[\x21-\x7e]+\z") ? null : "the API key is empty or has characters that no key has";
        }

        /// <summary>Checks for code 210. The rule of the service: letters, digits, spaces and . _ @ + -, at most 128, the first a letter or digit.</summary>
        internal static string UserRefProblem(string userRef)
        {
            var isText = userRef != null && Regex.IsMatch(userRef, @"\A[A-Za-z0-9._@+ -]*\z");
            if (isText && Regex.IsMatch(userRef.Trim(), @"\A[A-Za-z0-9][A-Za-z0-9._@+ -]{0,127}\z")) return null;
            return "the user reference must start with a letter or digit and hold only letters, digits, spaces and . _ @ + - (128 at most)";
        }

        /// <summary>The recorder's fields of a pattern in JSON; none if it is no object.</summary>
        internal static XElement PatternFields(string pattern)
        {
            var given = Json.ObjectOf(pattern);
            var kept = given == null ? Enumerable.Empty<XElement>() : Fields.Select(name => Json.Field(given, name)).Where(field => field != null);
            return new XElement("root", new XAttribute("type", "object"), kept);
        }

        /// <summary>Checks for code 203. The service checks the rest.</summary>
        internal static string PatternProblem(XElement pattern)
        {
            XElement agent = Json.Field(pattern, "agent");
            if (Json.Text(agent, "type") == null || Json.Text(pattern, "version") == null) return "the pattern is no JSON object of a recorder";
            XElement events = Json.Field(pattern, "kevt"), records = Json.Field(pattern, "k");
            var hasEvents = Json.TypeOf(events) == "array";
            if (!hasEvents && Json.TypeOf(records) != "array") return "the pattern has neither key events (kevt) nor key records (k)";
            var presses = hasEvents ? events.Elements().Count(one => Json.Text(one, "type") == "keydown") : records.Elements().Count();
            if (presses >= KeydownsMin) return null;
            return "the pattern has too few keyboard events: " + presses + " presses, and " + KeydownsMin + " are needed";
        }

        /// <summary>Checks for code 208. Null stands for absent, as in the service.</summary>
        internal static string TagProblem(XElement pattern)
        {
            var tags = Json.Field(pattern, "tags");
            if (tags == null || Json.TypeOf(tags) == "null") return null;
            if (Json.TypeOf(tags) != "array") return "the tags of the pattern are no list";
            var all = tags.Elements().ToList();
            if (all.Count > TagsMax) return "the pattern has " + all.Count + " tags, and " + TagsMax + " at most are allowed";
            var wrong = all.FindIndex(tag => !IsTag(tag));
            if (wrong < 0) return null;
            return "tag " + (wrong + 1) + " must have a key k of 1 to " + TagNameMax + " and a value v of at most " + TagValueMax + " characters";
        }

        /// <summary>Removes the port, the brackets and the zone that proxies and sockets add to an address.</summary>
        internal static string BareAddress(string ip)
        {
            return Regex.Replace(Regex.Replace(ip.Trim(), @"\A(?:\[(.*)\]|([^:]*))(?::[0-9]{1,5})?\z", "$1$2"), "%.*", "");
        }

        private static bool IsTag(XElement tag)
        {
            string name = Json.Text(tag, "k"), value = Json.Text(tag, "v");
            return IsText(name, TagNameMax) && name != "" && IsText(value, TagValueMax);
        }

        /// <summary>Whether a text is in bounds and has neither NUL nor lone surrogates.</summary>
        private static bool IsText(string text, int max)
        {
            return text != null && text.Length <= max && !Regex.IsMatch(text, @"\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]");
        }
    }
}
