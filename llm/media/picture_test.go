package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/llm"
)

var (
	red  = color.RGBA{R: 255, A: 255}
	blue = color.RGBA{B: 255, A: 255}
)

// halves returns a picture whose left half is red, and the right one blue.
func halves(width, height int) *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			p.SetRGBA(x, y, map[bool]color.RGBA{true: red, false: blue}[x < width/2])
		}
	}
	return p
}

func asPNG(t *testing.T, p image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, p))
	return b.Bytes()
}

// asJPEG encodes a picture with EXIF data: an orientation, and the words "GPS 47.37N".
func asJPEG(t *testing.T, p image.Image, orientation byte, order binary.AppendByteOrder) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, p, &jpeg.Options{Quality: 95}))
	exif := []byte("Exif\x00\x00MM\x00*")
	if order.String() == binary.LittleEndian.String() {
		exif = []byte("Exif\x00\x00II*\x00")
	}
	exif = order.AppendUint32(exif, 8)
	exif = order.AppendUint16(exif, 2)
	for _, entry := range [][2]uint16{{0x010F, 7}, {0x0112, uint16(orientation)}} {
		exif = order.AppendUint16(exif, entry[0])
		exif = order.AppendUint16(exif, 3)
		exif = order.AppendUint32(exif, 1)
		exif = order.AppendUint16(exif, entry[1])
		exif = order.AppendUint16(exif, 0)
	}
	exif = append(exif, "GPS 47.37N"...)
	header := binary.BigEndian.AppendUint16([]byte{0xFF, 0xD8, 0xFF, 0xE1}, uint16(len(exif)+2))
	return slices.Concat(header, exif, b.Bytes()[2:])
}

// decoded returns what a model gets, after checks of its form.
func decoded(t *testing.T, p llm.Image) image.Image {
	t.Helper()
	require.Equal(t, "image/jpeg", p.MIME)
	require.NotContains(t, string(p.Data), "Exif")
	require.NotContains(t, string(p.Data), "47.37N")
	got, err := jpeg.Decode(bytes.NewReader(p.Data))
	require.NoError(t, err)
	require.LessOrEqual(t, max(got.Bounds().Dx(), got.Bounds().Dy()), maxSide)
	return got
}

// colorAt returns which of the two colors a pixel has.
func colorAt(p image.Image, x, y int) string {
	switch r, g, b, _ := p.At(x, y).RGBA(); {
	case r > 3*max(g, b, 1):
		return "red"
	case b > 3*max(r, g, 1):
		return "blue"
	default:
		return "other"
	}
}

func TestPrepare_MakesSmallPlainJPEG(t *testing.T) {
	t.Parallel()
	const lossless, lossy = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"
	webps := make([][]byte, 2)
	for i, encoded := range []string{lossless, lossy} {
		t.Run(encoded, func(t *testing.T) {
			var err error
			webps[i], err = base64.StdEncoding.DecodeString(encoded)
			require.NoError(t, err)
		})
	}
	palette := color.Palette{red, blue}
	frames := gif.GIF{Config: image.Config{Width: 40, Height: 20, ColorModel: palette}, Delay: []int{1, 1}}
	for i := range palette {
		frame := image.NewPaletted(image.Rect(0, 0, 40, 20), palette)
		for at := range frame.Pix {
			frame.Pix[at] = uint8(i)
		}
		frames.Image = append(frames.Image, frame)
	}
	var animation bytes.Buffer
	require.NoError(t, gif.EncodeAll(&animation, &frames))
	for name, test := range map[string]struct {
		file          []byte
		width, height int
		left          string // the color of the left edge; empty for whatever it is
	}{
		"PNG":                          {asPNG(t, halves(40, 20)), 40, 20, "red"},
		"a large PNG is made smaller":  {asPNG(t, halves(4000, 1000)), 1568, 392, "red"},
		"a thin one keeps one pixel":   {asPNG(t, halves(4000, 1)), 1568, 1, "red"},
		"what is transparent is white": {asPNG(t, image.NewRGBA(image.Rect(0, 0, 40, 20))), 40, 20, "other"},
		"JPEG":                         {asJPEG(t, halves(40, 20), 1, binary.BigEndian), 40, 20, "red"},
		"GIF, the first frame":         {animation.Bytes(), 40, 20, "red"},
		"WebP, lossless":               {webps[0], 1, 1, ""},
		"WebP, lossy":                  {webps[1], 1, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := prepare(test.file)
			require.NoError(t, err, name)
			p := decoded(t, got)
			require.Equal(t, image.Rect(0, 0, test.width, test.height), p.Bounds(), name)
			if test.left != "" {
				require.Equal(t, test.left, colorAt(p, 0, test.height/2), name)
			}
		})
	}
}

func TestPrepare_TurnsPhotoUpright(t *testing.T) {
	t.Parallel()
	wide, high := image.Rect(0, 0, 40, 20), image.Rect(0, 0, 20, 40)
	for orientation, want := range map[byte]struct {
		size image.Rectangle
		red  image.Point // where the red half is, which was on the left
	}{
		0: {wide, image.Pt(5, 10)}, 1: {wide, image.Pt(5, 10)}, 2: {wide, image.Pt(35, 10)}, 3: {wide, image.Pt(35, 10)},
		4: {wide, image.Pt(5, 10)},
		5: {high, image.Pt(10, 5)}, 6: {high, image.Pt(10, 5)}, 7: {high, image.Pt(10, 35)}, 8: {high, image.Pt(10, 35)},
		9: {wide, image.Pt(5, 10)},
	} {
		t.Run(fmt.Sprint(orientation), func(t *testing.T) {
			for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
				got, err := prepare(asJPEG(t, halves(40, 20), orientation, order))
				require.NoError(t, err)
				p := decoded(t, got)
				require.Equal(t, want.size, p.Bounds(), "%d", orientation)
				require.Equal(t, "red", colorAt(p, want.red.X, want.red.Y), "%d", orientation)
			}
		})
	}
	corner := image.NewRGBA(wide) // red at the top left, to tell mirrored from turned
	for i := range corner.Pix {
		corner.Pix[i] = 255
	}
	for x := range 20 {
		for y := range 10 {
			corner.SetRGBA(x, y, red)
		}
	}
	for orientation, at := range map[int]image.Point{
		1: {5, 5}, 2: {35, 5}, 3: {35, 15}, 4: {5, 15}, 5: {5, 5}, 6: {15, 5}, 7: {15, 35},
		8: {5, 35},
	} {
		t.Run(fmt.Sprint(orientation), func(t *testing.T) {
			require.Equal(t, "red", colorAt(upright(corner, orientation), at.X, at.Y), "%d", orientation)
		})
	}
}

func TestPrepare_RefusesUnusableFiles(t *testing.T) {
	t.Parallel()
	bomb := asPNG(t, halves(2, 2))
	binary.BigEndian.PutUint32(bomb[16:], 60_000)
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	// A WebP that declares one pixel and has a frame of 16,383 by 16,383.
	liar := slices.Concat([]byte("RIFF\x24\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"), make([]byte, 10),
		[]byte("VP8L\x05\x00\x00\x00\x2f\xfe\xbf\xff\x0f\x00"))
	for name, test := range map[string]struct {
		file []byte
		want error
	}{
		"nothing":                        {nil, errFormat},
		"a text":                         {[]byte("Dear Sir"), errFormat},
		"a drawing":                      {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), errFormat},
		"half a picture":                 {asPNG(t, halves(400, 400))[:60], errFormat},
		"a picture without pixels":       {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), errFormat},
		"too many pixels":                {asPNG(t, image.NewGray(image.Rect(0, 0, 5000, 5000))), errPixels},
		"many pixels in few bytes":       {bomb, errPixels},
		"a frame larger than it is said": {liar, errPixels},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(test.file)
			require.ErrorIs(t, jobs.Cause(err), test.want, name)
			require.True(t, jobs.IsPermanent(err), name)
		})
	}
}

func FuzzPrepare(f *testing.F) {
	f.Add([]byte("GIF89a"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01"))
	f.Add([]byte("RIFF\x24\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := prepare(data)
		if err != nil {
			require.True(t, jobs.IsPermanent(err))
			return
		}
		decoded(t, got)
	})
}
