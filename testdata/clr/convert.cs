using System.Collections.Generic;
using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.CompilerServices.SymbolWriter;

// Writes an assembly again with the places of its .mdb as portable PDB.
static class Convert
{
    static void Main(string[] a)
    {
        var old = MonoSymbolFile.ReadSymbolFile(a[0] + ".mdb");
        using (var m = ModuleDefinition.ReadModule(a[0]))
        {
            var documents = new Dictionary<string, Document>();
            foreach (var t in m.GetTypes())
                foreach (var method in t.Methods)
                {
                    var entry = old.GetMethodByToken(method.MetadataToken.ToInt32());
                    if (entry == null || !method.HasBody)
                        continue;
                    var at = new Dictionary<int, Instruction>();
                    foreach (var i in method.Body.Instructions)
                        at[i.Offset] = i;
                    foreach (var l in entry.GetLineNumberTable().LineNumbers)
                    {
                        Instruction i;
                        if (!at.TryGetValue(l.Offset, out i))
                            continue;
                        var url = System.IO.Path.GetFileName(old.GetSourceFile(l.File).FileName);
                        Document d;
                        if (!documents.TryGetValue(url, out d))
                            documents[url] = d = new Document("/src/" + url) { Type = DocumentType.Text, Language = DocumentLanguage.CSharp };
                        var hidden = l.IsHidden;
                        var p = new SequencePoint(i, d) { StartLine = hidden ? 0xfeefee : l.Row, EndLine = hidden ? 0xfeefee : l.Row, StartColumn = hidden ? 0 : System.Math.Max(l.Column, 1) };
                        p.EndColumn = hidden ? 0 : p.StartColumn + 1;
                        method.DebugInformation.SequencePoints.Add(p);
                    }
                }
            ISymbolWriterProvider w = a[2] == "embedded" ? (ISymbolWriterProvider)new EmbeddedPortablePdbWriterProvider() : new PortablePdbWriterProvider();
            m.Write(a[1], new WriterParameters { WriteSymbols = true, SymbolWriterProvider = w });
        }
    }
}
