package setup

import "golang.org/x/sys/unix"

// EchoOff stops a terminal from showing what is typed, until restore is called. Lines and Ctrl-C work as before.
func EchoOff(fd int) (restore func()) {
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}
	}
	quiet := *was
	quiet.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, unix.TCSETS, &quiet) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, was) } // the terminal may be gone
}

// keepLineBreaks makes a terminal in raw mode move to the first column at a line break, as in cooked mode. Forms that do
// not read from the terminal itself rely on that.
func keepLineBreaks(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Oflag |= unix.OPOST
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}
