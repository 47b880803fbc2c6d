package knowledge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable_RowsNameColumns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"a table": {
			"Bikes:\n\n| Bike | 1 day | 3 days |\n|---|---|---|\n| City | 12 € | 30 € |\n| E-bike | 19 € | 50 € |\n\nEnd.",
			"Bikes:\n\n\n\n| Bike: City; 1 day: 12 €; 3 days: 30 €\n| Bike: E-bike; 1 day: 19 €; 3 days: 50 €\n\nEnd.",
		},
		"without outer bars": {"Bike | Price\n--- | ---\nCity | 12 €\nEnd.", "\n\n| Bike: City; Price: 12 €\nEnd."},
		"bars in a cell":     {"| Bike | Price |\n|--|--|\n| City \\| Town | **12 €** |", "\n\n| Bike: City / Town; Price: **12 €**"},
		"no names, two columns": {
			"|  |  |\n|--|--|\n| Monday | closed |\n| Tuesday | 9-18 |\n| Sunday | closed |",
			"\n\n| Monday: closed\n| Tuesday: 9-18\n| Sunday: closed",
		},
		"names that nobody marked": {
			"| Day | Hours |\n| Monday | 8-18 |\n| Tuesday | 9-18 |",
			"\n| Day: Monday; Hours: 8-18\n| Day: Tuesday; Hours: 9-18",
		},
		"groups of rows": {
			"| Bike | Price |\n|--|--|\n| Adults | Adults |\n| City | 12 € |\n| Children | |\n| Small | 6 € |",
			"\n\n\n| Adults; Bike: City; Price: 12 €\n\n| Children; Bike: Small; Price: 6 €",
		},
		"an empty cell": {"| Bike | Size | Price |\n|--|--|--|\n| City | | 12 € |", "\n\n| Bike: City; Price: 12 €"},
		"a form": {
			"| Room | Cleaned | By |\n|--|--|--|\n| Hall | | Ana |\n| Bath | | Ben |",
			"| Cleaned\n\n| Room: Hall; By: Ana\n| Room: Bath; By: Ben",
		},
		"names alone":             {"| Bike | Price |\n|--|--|", "| Bike: Price\n"},
		"equal names alone":       {"| Bike | Bike |\n|--|--|", "| Bike\n"},
		"a single line with bars": {"a | b\nc", "a | b\nc"},
		"code":                    {"```\n| a | b |\n|---|---|\n| c | d |\n```", "```\n| a | b |\n|---|---|\n| c | d |\n```"},
		"as they are already": {
			"| Bike: City; Price: 12 €\n| Bike: E-bike; Price: 19 €",
			"| Bike: City; Price: 12 €\n| Bike: E-bike; Price: 19 €",
		},
	} {
		require.Equal(t, test.want, tableRows(test.text), name)
	}
}

func TestDocxTable_KeepsMergedColumns(t *testing.T) {
	t.Parallel()
	cell := func(properties, text string) string {
		return "<w:tc><w:tcPr>" + properties + "</w:tcPr>" + paragraph("", text) + "</w:tc>"
	}
	doc, err := readFile(t, "a.docx", docx(t, "<w:tbl>"+
		"<w:tr><w:trPr><w:tblHeader/></w:trPr>"+cell("", "Bike")+cell("", "Saturday")+cell("", "Sunday")+cell("", "Deposit")+"</w:tr>"+
		"<w:tr>"+cell(`<w:vMerge w:val="restart"/>`, "City")+cell(`<w:gridSpan w:val="2"/>`, "12 €")+cell("", "50 €")+"</w:tr>"+
		"<w:tr>"+cell("<w:vMerge/>", "")+cell("", "10 €")+cell("", "9 €")+cell("", "40 €")+"</w:tr></w:tbl>"))
	require.NoError(t, err)
	require.Equal(t, "| Bike: City; Saturday: 12 €; Sunday: 12 €; Deposit: 50 €\n| Bike: City; Saturday: 10 €; Sunday: 9 €; Deposit: 40 €",
		strings.TrimSpace(doc.Sections[0].Text))
}

func TestDocxTable_RowThatBeginsLater(t *testing.T) {
	t.Parallel()
	cell := func(text string) string { return "<w:tc>" + paragraph("", text) + "</w:tc>" }
	doc, err := readFile(t, "a.docx", docx(t, "<w:tbl><w:tr>"+cell("Bike")+cell("Saturday")+cell("Sunday")+"</w:tr>"+
		`<w:tr>`+cell("City")+cell("12 €")+cell("10 €")+`</w:tr><w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>`+cell("14 €")+cell("11 €")+
		"</w:tr></w:tbl>"))
	require.NoError(t, err)
	require.Equal(t, "| Bike: City; Saturday: 12 €; Sunday: 10 €\n| Saturday: 14 €; Sunday: 11 €", strings.TrimSpace(doc.Sections[0].Text))
}

func FuzzTables(f *testing.F) {
	f.Add("| a | b |\n|---|---|\n| c | d |")
	f.Add("a | b\n-|-\nc")
	f.Add("| a\n||\n|")
	f.Fuzz(func(t *testing.T, text string) {
		rows := tableRows(text)
		require.Equal(t, strings.Count(text, "\n"), strings.Count(rows, "\n"))
		require.LessOrEqual(t, len(rows), (len(text)+10)*(len(text)+10))
	})
}
