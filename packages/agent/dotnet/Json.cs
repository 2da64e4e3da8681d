using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;
using System.Xml.Linq;

namespace Keystride.Agent
{
    /// <summary>
    /// JSON by the parser of the framework, which maps it to XML: an element a field, its kind in the attribute "type", and the name of a
    /// field that XML does not allow in the attribute "item".
    /// </summary>
    internal static class Json
    {
        private static readonly XmlDictionaryReaderQuotas Quotas = new XmlDictionaryReaderQuotas
        {
            MaxDepth = 64,
            MaxStringContentLength = 1 << 20,
            MaxArrayLength = 1 << 20,
            MaxNameTableCharCount = 1 << 20,
            MaxBytesPerRead = 1 << 20,
        };

        /// <summary>The object of a text; null if the text is no JSON object.</summary>
        internal static XElement ObjectOf(string text)
        {
            if (string.IsNullOrEmpty(text)) return null;
            try
            {
                using (var reader = JsonReaderWriterFactory.CreateJsonReader(Encoding.UTF8.GetBytes(text), Quotas))
                {
                    var root = XElement.Load(reader);
                    return TypeOf(root) == "object" ? root : null;
                }
            }
            catch (Exception error) when (error is XmlException || error is FormatException || error is ArgumentException || error is InvalidOperationException)
            {
                return null;
            }
        }

        internal static string Write(XElement root)
        {
            // The reader leaves an empty text in null, [] and {}, and the writer refuses a text there.
            foreach (var element in root.DescendantsAndSelf())
                if (TypeOf(element) != "string" && element.Value == "" && !element.HasElements) element.RemoveNodes();
            using (var stream = new MemoryStream())
            {
                using (var writer = JsonReaderWriterFactory.CreateJsonWriter(stream, new UTF8Encoding(false), false))
                {
                    root.WriteTo(writer);
                    writer.Flush();
                }
                return Encoding.UTF8.GetString(stream.ToArray());
            }
        }

        internal static string TypeOf(XElement element)
        {
            return element == null ? "undefined" : (string)element.Attribute("type") ?? "string";
        }

        /// <summary>A field of an object; null if there is none.</summary>
        internal static XElement Field(XElement element, string name)
        {
            return TypeOf(element) != "object" ? null : element.Elements().LastOrDefault(child => NameOf(child) == name);
        }

        internal static string NameOf(XElement element)
        {
            return (string)element.Attribute("item") ?? element.Name.LocalName;
        }

        /// <summary>The text of a string field; null for any other value.</summary>
        internal static string Text(XElement element, string name)
        {
            var field = Field(element, name);
            return TypeOf(field) == "string" ? field.Value : null;
        }

        internal static bool IsBoolean(XElement element, string name, bool value)
        {
            var field = Field(element, name);
            return TypeOf(field) == "boolean" && field.Value == (value ? "true" : "false");
        }

        /// <summary>The value of a number field; null for any other value.</summary>
        internal static double? Number(XElement element, string name)
        {
            var field = Field(element, name);
            double number;
            if (TypeOf(field) != "number") return null;
            return double.TryParse(field.Value, NumberStyles.Float, CultureInfo.InvariantCulture, out number) ? number : (double?)null;
        }

        /// <summary>A whole number that is not negative; null for any other value.</summary>
        internal static int? Count(XElement element, string name)
        {
            var number = Number(element, name);
            return number >= 0 && number <= int.MaxValue && number % 1 == 0 ? (int?)number : null;
        }
    }
}
