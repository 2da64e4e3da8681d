using System;
using System.Globalization;
using System.IO;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;
using System.Xml.Linq;
using Keystride.Agent;

/// <summary>
/// Reads one verify a line from standard input, as JSON (url, apikey, timeoutMs, userRef, pattern, enroll, memberRef, ip), and writes
/// one result a line. The test suite runs it.
/// </summary>
internal static class Runner
{
    private static void Main()
    {
        // UTF-8 in every locale.
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        for (var line = input.ReadLine(); line != null; line = input.ReadLine())
        {
            var asked = Read(line);
            var options = new VerifyOptions
            {
                Enroll = Value(asked, "enroll") == "true",
                MemberRef = Value(asked, "memberRef"),
                Ip = Value(asked, "ip"),
            };
            var timeout = TimeSpan.FromMilliseconds(int.Parse(Value(asked, "timeoutMs"), CultureInfo.InvariantCulture));
            using (var agent = new KeystrideAgent(Value(asked, "url"), Value(asked, "apikey"), timeout))
                Console.Out.WriteLine(Write(agent.VerifyAsync(Value(asked, "userRef"), Value(asked, "pattern"), options).Result));
            Console.Out.Flush();
        }
    }

    private static XElement Read(string line)
    {
        using (var reader = JsonReaderWriterFactory.CreateJsonReader(Encoding.UTF8.GetBytes(line), XmlDictionaryReaderQuotas.Max))
            return XElement.Load(reader);
    }

    private static string Value(XElement asked, string name)
    {
        var field = asked.Element(name);
        return field == null || (string)field.Attribute("type") == "null" ? null : field.Value;
    }

    private static string Write(VerifyResult result)
    {
        var enrollment = result.Enrollment == null
            ? Field("enrollment", "null", "")
            : new XElement("enrollment", new XAttribute("type", "object"),
                Field("done", "number", result.Enrollment.Done.ToString(CultureInfo.InvariantCulture)),
                Field("target", "number", result.Enrollment.Target.ToString(CultureInfo.InvariantCulture)));
        var root = new XElement("root", new XAttribute("type", "object"),
            Field("code", "number", result.Code.ToString(CultureInfo.InvariantCulture)),
            result.RecommendedAction == null ? Field("recommendedAction", "null", "") : Field("recommendedAction", "string", result.RecommendedAction),
            Field("scored", "boolean", result.Authentication == null ? "false" : "true"),
            enrollment,
            Field("message", "string", result.Message));
        using (var stream = new MemoryStream())
        {
            using (var writer = JsonReaderWriterFactory.CreateJsonWriter(stream, new UTF8Encoding(false), false)) root.WriteTo(writer);
            return Encoding.UTF8.GetString(stream.ToArray());
        }
    }

    private static XElement Field(string name, string type, string value)
    {
        var field = new XElement(name, new XAttribute("type", type));
        if (type != "null") field.Value = value;
        return field;
    }
}
